"""Write the answers that travel with small tasks: `python docs/scripts/task_answers.py burgers-v1 …`."""

import sys

from resolvent.common.files import write_json
from resolvent.judging import tasks
from resolvent.judging.answers import packed_answers

for name in sys.argv[1:]:
    path = tasks.FOLDER / f"{name}.answers.json"
    write_json(path, packed_answers(name, timed=True))
    print(f"{path}: {path.stat().st_size:,} bytes")
