"""Fixtures: the product's command line, the logs, and answers that are computed once a session."""

from collections.abc import Callable

import pytest

from .figures import EXAMPLE, ROOT
from .questions import QUESTIONS
from .support import Answer, Completed, Product, log_of, product_environment, read_answer


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Product:
    return Product(product_environment(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="session")
def ask(product: Product) -> Callable[..., Completed]:
    """``ask(*args, input=None)`` runs ``metric-assistant`` with these arguments."""
    return product.run


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return paths of the example log, and of parts of it, by name."""
    if not (ROOT / EXAMPLE).is_file():
        pytest.fail(f"{EXAMPLE} is missing: the acceptance tests are about this log")
    folder = tmp_path_factory.mktemp("logs")
    paths = {"example": EXAMPLE}
    for name, steps in (("step-0", (0,)), ("step-1", (1,)), ("steps-0-1", (0, 1))):
        path = folder / f"{name}.log"
        path.write_text(log_of(*steps), encoding="utf-8")
        paths[name] = str(path)
    return paths


@pytest.fixture(scope="session")
def answer(product: Product, logs: dict[str, str]) -> Callable[..., Answer]:
    """``answer(question, lang=None, log="example")`` explains a log and returns the answer object."""

    def explain(question: str, *, lang: str | None = None, log: str = "example") -> Answer:
        chosen = ["--lang", lang] if lang else []
        return read_answer(product.run("explain", logs.get(log, log), "-q", question, *chosen, "--format", "json"))

    return explain


@pytest.fixture(scope="session")
def answer_to(answer: Callable[..., Answer]) -> Callable[[str], Answer]:
    """``answer_to(name)`` answers a question of ``QUESTIONS``."""

    def explain(name: str) -> Answer:
        question = QUESTIONS[name]
        return answer(question.text, log=question.log)

    return explain


@pytest.fixture(params=sorted(QUESTIONS))
def asked(request: pytest.FixtureRequest) -> str:
    """Name each question in turn."""
    return request.param
