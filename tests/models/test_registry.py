from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings, ModelsSettings
from metnos.models import keys
from metnos.models.budget import Budget, Meter
from metnos.models.chat import Message, Prompt
from metnos.models.local import Local
from metnos.models.patience import Patience
from metnos.models.registry import TIERS, Models
from models.server import fails, lists, says, serving

QUESTION = Prompt("s", (Message("user", "hello"),), max_tokens=20)
FIRST = ModelSettings(url="http://127.0.0.1:1/v1", name="first")
OTHER = ModelSettings(url="http://127.0.0.1:1/v1", name="other")


def test_without_settings_there_is_none(tmp_path: Path) -> None:
    models = Models(ModelsSettings(), tmp_path)
    assert [models.tier(tier) for tier in TIERS] == [None, None, None]
    assert models.metered("main", Meter(Budget(1, 1))) is None
    models.close()


def test_a_tier_of_its_own_or_main(tmp_path: Path) -> None:
    models = Models(ModelsSettings(main=FIRST, wise=OTHER), tmp_path)
    main, fast, wise = (models.tier(tier) for tier in TIERS)
    assert main is fast is models.tier("main")
    assert main is not None
    assert wise is not None
    assert (main.name, wise.name) == ("first at 127.0.0.1:1", "other at 127.0.0.1:1")
    only_fast = Models(ModelsSettings(fast=FIRST), tmp_path)
    assert only_fast.tier("main") is None
    assert only_fast.tier("fast") is not None


def test_local_and_anthropic(tmp_path: Path) -> None:
    local = ModelSettings(provider="local", name="qwen2.5-coder-1.5b")
    models = Models(ModelsSettings(main=local, wise=ModelSettings(provider="anthropic", name="claude")), tmp_path)
    main, wise = models.tier("main"), models.tier("wise")
    assert isinstance(main, Local)
    assert wise is not None
    assert (main.name, main.outside) == ("qwen2.5-coder-1.5b (local)", False)
    assert (wise.name, wise.outside) == ("claude at api.anthropic.com", True)
    with pytest.raises(ModelError, match="not fetched") as caught:
        main.ask(QUESTION)
    assert caught.value.fix == "metnos model get qwen2.5-coder-1.5b"
    models.close()


def test_keys_come_from_the_workspace_when_a_question_needs_them(tmp_path: Path) -> None:
    with serving(says("ok")) as running:
        models = Models(ModelsSettings(main=ModelSettings(url=running.url, name="m", key="file:cloud")), tmp_path)
        chat = models.tier("main")
        assert chat is not None
        with pytest.raises(ModelError, match="no key at file:cloud"):
            chat.ask(QUESTION)
        keys.store_in_file("cloud", "sk-0123456789", tmp_path)
        assert chat.ask(QUESTION).text == "ok"
    assert running.seen[0].headers["authorization"] == "Bearer sk-0123456789"


def test_retries_are_those_of_the_settings(tmp_path: Path) -> None:
    with serving(fails(503)) as running:
        settings = ModelsSettings(main=ModelSettings(url=running.url, name="m"), retries=1)
        models = Models(settings, tmp_path, patience=Patience(settings.retries, sleep=lambda _: None))
        chat = models.tier("main")
        assert chat is not None
        with pytest.raises(ModelError):
            chat.ask(QUESTION)
    assert len(running.seen) == 2


@pytest.mark.slow
def test_a_metered_tier_has_its_own_price(tmp_path: Path) -> None:
    with serving(says("ok")) as running:
        dear = ModelSettings(url=running.url, name="m", price_in=1000.0, price_out=1000.0)
        models = Models(ModelsSettings(main=ModelSettings(url=running.url, name="m"), wise=dear), tmp_path)
        meter = Meter(Budget(10_000, 0.2))
        main, wise = models.metered("main", meter), models.metered("wise", meter)
        assert main is not None
        assert wise is not None
        for _ in range(5):
            main.ask(QUESTION)
        assert meter.spent.usd == 0
        wise.ask(QUESTION)
        assert meter.spent.usd == pytest.approx(0.014)
        with pytest.raises(ModelError, match="could cost"):
            for _ in range(20):
                wise.ask(QUESTION)
    assert meter.spent.usd <= 0.2


def test_a_list_is_not_asked_for_before_a_question(tmp_path: Path) -> None:
    with serving(lists("m"), says("ok")) as running:
        chat = Models(ModelsSettings(main=ModelSettings(url=running.url)), tmp_path).tier("main")
        assert chat is not None
        assert running.seen == []
        assert chat.ask(QUESTION).text == "ok"
