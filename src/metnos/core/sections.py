"""Everything the owner can set, section by section.

The description of a field is its documentation: ``docs/configuration.md`` and a new workspace's ``metnos.toml`` are
written from it.
"""

from typing import Annotated, Literal

from pydantic import Field

from metnos.core.section import Section
from metnos.core.sections_life import LifeSettings
from metnos.core.sections_models import EmbedSettings, ModelsSettings
from metnos.core.sections_outward import LogSettings, McpSettings, OtelSettings, TelegramSettings, WebSettings


class StoreSettings(Section):
    busy_timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(
        10.0, description="How long a write waits for another process before it gives up, in seconds."
    )


class AuditSettings(Section):
    checkpoint_every: Annotated[int, Field(ge=1, le=10_000)] = Field(
        64, description="After how many lines the audit signs a checkpoint with the agent's key."
    )


class BackupSettings(Section):
    folder: str = Field(
        "",
        description="Where backups go when no place is named. Empty: a folder `metnos-backups` beside the workspace.",
    )


class DiskSettings(Section):
    warn_free_mb: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        1024, description="Below this many free megabytes `metnos doctor` turns yellow."
    )
    need_free_mb: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        100, description="Below this many free megabytes `metnos doctor` turns red."
    )


class SandboxSettings(Section):
    bwrap: str = Field(
        "", description="The bubblewrap program to use, which must be the system's own. Empty: the usual one."
    )
    timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(
        20.0, description="How long the sandbox probe may take before it counts as failed, in seconds."
    )


class PolicySettings(Section):
    autonomy: Literal["read_only", "supervised", "full"] = Field(
        "supervised", description="What may happen without asking: `read_only`, `supervised` or `full`."
    )
    approval_hours: Annotated[float, Field(gt=0, le=720)] = Field(
        24.0, description="How long a question in the inbox waits for an answer before it counts as *no*, in hours."
    )
    undo_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30, description="For how many days what was changed can be taken back."
    )


class ExecutorSettings(Section):
    cpu_s: Annotated[float, Field(gt=0, le=600)] = Field(5.0, description="CPU seconds that one call may use.")
    ram_mb: Annotated[int, Field(ge=64, le=16_384)] = Field(256, description="Memory that one call may use, in MB.")
    wall_s: Annotated[float, Field(gt=0, le=3600)] = Field(30.0, description="How long one call may take, in seconds.")
    output_mb: Annotated[int, Field(ge=1, le=256)] = Field(8, description="How large one reply may be, in MB.")
    writes: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        1000, description="How many changes one executor may make in a day."
    )
    write_mb: Annotated[int, Field(ge=0, le=1_048_576)] = Field(
        1024, description="How much one executor may write in a day, in MB."
    )
    strikes: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="After how many faults of its own within 24 hours an executor is quarantined."
    )
    births: Annotated[int, Field(ge=0, le=10_000)] = Field(
        3, description="How many new executors may become active in a day."
    )
    active: Annotated[int, Field(ge=0, le=10_000)] = Field(
        20, description="How many executors that are not built in may be active."
    )
    warm: Annotated[int, Field(ge=0, le=16)] = Field(
        2, description="How many sandboxes wait ready-made while Metnos keeps running. 0: each is made when needed."
    )


class SelectionSettings(Section):
    dormant_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        90,
        description="An executor that is not built in and was not used on so many days on which you were there is not"
        " offered to planners any more, and you are asked whether to archive it.",
    )
    extinct_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        30,
        description="An executor that was in quarantine on so many days on which you were there is archived, and you"
        " are asked whether to revoke it for good.",
    )
    explore: Annotated[float, Field(ge=0, le=1)] = Field(
        0.05, description="The share of turns in which one executor that is hidden from planners can be chosen again."
    )


class TurnSettings(Section):
    planner: Literal["auto", "router", "model"] = Field(
        "auto",
        description="Who plans: `router` (no language model), `model`, or `auto`: the router where it is certain, else "
        "the model.",
    )
    steps: Annotated[int, Field(ge=1, le=50)] = Field(12, description="How many steps one turn may take.")
    prompt_s: Annotated[float, Field(gt=0, le=86_400)] = Field(
        300.0,
        description="How long a question at the terminal waits for an answer, in seconds. Then it waits in the inbox.",
    )
    show: Annotated[int, Field(ge=1, le=1000)] = Field(20, description="How many entries an answer shows.")


class AdmissionSettings(Section):
    utility: Annotated[float, Field(ge=0, le=6)] = Field(
        1.5,
        description="How much it speaks for keeping something learnt that one can act on it, and that its like helped."
        " The sum of all, each by what is known (0 to 1), must reach about 0. `metnos memory fit` fits them.",
    )
    grounding: Annotated[float, Field(ge=0, le=6)] = Field(4.5, description="How much: that many episodes show it.")
    novelty: Annotated[float, Field(ge=0, le=6)] = Field(0.8, description="How much: that nothing like it is known.")
    recency: Annotated[float, Field(ge=0, le=6)] = Field(0.5, description="How much: that it was seen lately.")
    kind: Annotated[float, Field(ge=0, le=6)] = Field(
        1.0, description="How much: that facts of its kind are mostly worth keeping."
    )
    bias: Annotated[float, Field(ge=-6, le=6)] = Field(
        -4.7, description="What is added: the lower it is, the less is learnt."
    )


class MemorySettings(Section):
    keep_days: Annotated[int, Field(ge=1, le=36_500)] = Field(
        90, description="For how many days conversations and traces are kept whole; then they are summarised."
    )
    keep_messages: Annotated[int, Field(ge=10, le=1_000_000)] = Field(
        5000, description="How many messages are kept whole; the oldest beyond that are summarised."
    )
    engine: Literal["sqlite", "lance"] = Field(
        "sqlite", description="Which engine keeps episodes. To change it: `metnos memory move`."
    )
    use: Literal["on", "off"] = Field(
        "on", description="Whether what was learnt steers plans and is shown; off, it is still kept."
    )
    think: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether a language model, too, looks by night for what episodes teach: `auto` if `models.main` is"
        " at home and costs nothing, `on` with any, also if what is remembered leaves the home, or `off`.",
    )
    window: Annotated[int, Field(ge=0, le=100)] = Field(
        6, description="How many of the last messages of a conversation a language model sees."
    )
    admission: AdmissionSettings = Field(  # the last: what stands behind it in a file would be of its table
        default_factory=AdmissionSettings, description="What is worth keeping of what was learnt."
    )


class ContextSettings(Section):
    surprisal: Literal["ngram", "model"] = Field(
        "ngram",
        description="Who says which words of a text that is too long tell most: `ngram`, a small model of what this"
        " agent has read, or `model`: `models.main`, if it is a local one. It scores some tens of tokens a second, and"
        " then has to read its next prompt from the beginning.",
    )
    scored: Annotated[int, Field(ge=1, le=100_000)] = Field(
        512, description="How many tokens of one context `model` may score; what is longer is scored by `ngram`."
    )


class SyntSettings(Section):
    tokens: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        60_000, description="How many tokens of a language model one new executor may cost, repairs included."
    )
    usd: Annotated[float, Field(ge=0, le=1000)] = Field(0.50, description="How much money one new executor may cost.")
    in_turns: bool = Field(
        True,
        description="Whether a request that no executor fits ends with the offer to make one, where there is a language"
        " model.",
    )


class NightSettings(Section):
    at: str = Field(
        "04:00",
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="When the nightly jobs run, local time. After a night asleep they run at the next chance.",
    )
    backup: bool = Field(True, description="Whether a backup is made every night.")
    keep_backups: Annotated[int, Field(ge=1, le=1000)] = Field(
        7, description="How many of the nightly backups are kept; the oldest go first."
    )


class MnestomeSettings(Section):
    fading: str = Field(
        "",
        pattern=r"^(\s*[^\s=,]+\s*=\s*(0\.\d*[1-9]\d*|[1-9](\.\d+)?)\s*(,|$))*$",
        description="How fast mnests with a tag fade, a day, such as `invoice=0.01, photo=0.03`. All others: 0.018,"
        " which halves a weight in about 38 days.",
    )

    @property
    def lambdas(self) -> dict[str, float]:
        """The same, by tag."""
        pairs = (each.split("=") for each in self.fading.split(",") if each.strip())
        return {tag.strip(): float(value) for tag, value in pairs}


class FastpathSettings(Section):
    use: Literal["on", "shadow", "off"] = Field(
        "on", description="Fast paths: `on`, `shadow` (they learn and never answer) or `off` (nothing new is learnt)."
    )
    wrong_share: Annotated[float, Field(gt=0, le=0.2)] = Field(
        0.01, description="The greatest share of answers by fast paths that may be wrong, held with 95 % confidence."
    )
    check_every: Annotated[int, Field(ge=2, le=1000)] = Field(
        20, description="Every so many answers of fast paths, one is planned all the same, to see whether they agree."
    )


class Settings(Section):
    """Everything the owner can set."""

    store: StoreSettings = Field(default_factory=StoreSettings, description="The one door to SQLite.")
    audit: AuditSettings = Field(default_factory=AuditSettings, description="The hash-chained log.")
    backup: BackupSettings = Field(default_factory=BackupSettings, description="Backups of the whole workspace.")
    disk: DiskSettings = Field(default_factory=DiskSettings, description="How much free disk is enough.")
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings, description="The walls around executors.")
    policy: PolicySettings = Field(default_factory=PolicySettings, description="What may happen without asking.")
    executors: ExecutorSettings = Field(default_factory=ExecutorSettings, description="Limits of every executor.")
    selection: SelectionSettings = Field(
        default_factory=SelectionSettings, description="Which executors planners get to choose from."
    )
    turn: TurnSettings = Field(default_factory=TurnSettings, description="From a request to an answer.")
    memory: MemorySettings = Field(default_factory=MemorySettings, description="What is kept of conversations.")
    context: ContextSettings = Field(default_factory=ContextSettings, description="What a language model sees.")
    synt: SyntSettings = Field(default_factory=SyntSettings, description="Executors that Metnos makes itself.")
    night: NightSettings = Field(default_factory=NightSettings, description="The work done while you sleep.")
    mnestome: MnestomeSettings = Field(default_factory=MnestomeSettings, description="Which output fed what.")
    fastpath: FastpathSettings = Field(default_factory=FastpathSettings, description="Shortcuts for what is repeated.")
    life: LifeSettings = Field(default_factory=LifeSettings, description="How this agent lives, ages and ends.")
    mcp: McpSettings = Field(default_factory=McpSettings, description="Programs that come by MCP.")
    embed: EmbedSettings = Field(default_factory=EmbedSettings, description="How texts are compared by meaning.")
    models: ModelsSettings = Field(default_factory=ModelsSettings, description="Language models; none is needed.")
    web: WebSettings = Field(default_factory=WebSettings, description="The web page and the HTTP API.")
    telegram: TelegramSettings = Field(default_factory=TelegramSettings, description="A bot of your own.")
    log: LogSettings = Field(default_factory=LogSettings, description="What the daemon writes down.")
    otel: OtelSettings = Field(default_factory=OtelSettings, description="Figures for a collector of your own.")
