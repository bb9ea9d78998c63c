"""Write the answers that travel with small tasks: `python docs/scripts/task_answers.py burgers-v1 …`."""

import sys

from resolvent.judging import tasks
from resolvent.judging.answers import CACHE, write_answers

for name in sys.argv[1:]:
    path = write_answers(name, CACHE, tasks.FOLDER)
    print(f"{path}: {path.stat().st_size:,} bytes")
