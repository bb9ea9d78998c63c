import pytest
from model_variants import NAMES, VARIANTS


@pytest.fixture(params=VARIANTS, ids=NAMES)
def variant(request):
    return request.param
