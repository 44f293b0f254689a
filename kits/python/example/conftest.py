import pytest
from blog import Blog


@pytest.fixture(scope="session")
def thriftstore_options():
    return {"compat": "1.2"}


@pytest.fixture
def blog(thriftstore):
    blog = Blog(thriftstore.thrift)
    yield blog
    blog.close()
