import pytest

from waymark import MethodNotAllowed, NotFound, Router


@pytest.fixture
def router():
    return (Router("/api")
            .add("/users", "users")
            .add("/users", "user-new", ["POST"])
            .add("/users/<name>", "user")
            .add("/users/<int:number>", "user-by-number")
            .add("/users/me", "me")
            .add("/files/<path:name>", "file", ["PUT", "DELETE"])
            .add("/users/<name>/posts/<int:post>", "post", ["GET", "PATCH"]))


@pytest.mark.parametrize("path, endpoint, values", [
    ("/api/users", "users", {}),
    ("/api/users/ann", "user", {"name": "ann"}),
    ("/api/users/12", "user-by-number", {"number": 12}),
    ("/api/users/me", "me", {}),
    ("/api/users/ann/posts/3", "post", {"name": "ann", "post": 3}),
])
def test_get(router, path, endpoint, values):
    assert router.match("GET", path) == (endpoint, values)


def test_method_chooses(router):
    assert router.match("post", "/api/users") == ("user-new", {})


def test_path_takes_slashes(router):
    assert router.match("PUT", "/api/files/a/b.txt") == (
        "file", {"name": "a/b.txt"})


@pytest.mark.parametrize("path", [
    "/users", "/api/users/", "/api/users/ann/posts/x", "/api/files/"])
def test_not_found(router, path):
    with pytest.raises(NotFound):
        router.match("GET", path)


def test_not_allowed(router):
    with pytest.raises(MethodNotAllowed) as caught:
        router.match("PUT", "/api/users")
    assert caught.value.allowed == ["GET", "HEAD", "POST"]


def test_head_is_answered_like_get(router):
    assert router.match("HEAD", "/api/users/me") == ("me", {})
    assert router.match("head", "/api/users/ann/posts/3")[0] == "post"


def test_head_where_there_is_no_get(router):
    with pytest.raises(MethodNotAllowed) as caught:
        router.match("HEAD", "/api/files/a")
    assert caught.value.allowed == ["DELETE", "PUT"]


def test_own_head_rule(router):
    router.add("/files/<path:name>", "file-facts", ["HEAD"])
    assert router.match("HEAD", "/api/files/a") == ("file-facts",
                                                    {"name": "a"})


def test_build(router):
    assert router.build("post", name="ann", post=7) == \
        "/api/users/ann/posts/7"
    with pytest.raises(NotFound):
        router.build("post", name="ann")


def test_bad_rules():
    with pytest.raises(ValueError):
        Router().add("users", "x")
    with pytest.raises(ValueError):
        Router().add("/<float:x>", "x")
