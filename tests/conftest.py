"""What all tests have in common."""


def pytest_collection_modifyitems(items):
    """The pipeline's tests come first: beside all others they take longest."""
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")
