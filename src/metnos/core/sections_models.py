"""The settings of language models and embedders."""

from typing import Annotated, Literal

from pydantic import Field

from metnos.core.section import Section

# No `user:password@`: a secret does not belong in a file that is shown and backed up.
_ADDRESS = r"^(https?://[^\s/?#@]+(/[^\s@]*)?)?$"


class ModelSettings(Section):
    provider: Literal["openai", "anthropic", "local"] = Field(
        "openai",
        description="`openai`: any server that speaks that protocol (Ollama, llama.cpp, vLLM, LM Studio, a cloud); "
        "`anthropic`; or `local`: a GGUF file, run by Metnos itself.",
    )
    url: str = Field(
        "",
        pattern=_ADDRESS,
        description="Base address of an OpenAI-compatible server, such as `http://127.0.0.1:11434/v1`; for "
        "`anthropic`, another one than its own. Empty: no language model, which is fine.",
    )
    name: str = Field(
        "",
        max_length=300,
        description="Which of the server's models to use (empty: the first that it lists), or which local one: a name "
        "that `metnos model list` shows, or a GGUF file.",
    )
    key: str = Field(
        "",
        pattern=r"^((env|keyring|file):[A-Za-z0-9_.-]{1,64})?$",
        description="Where its key is: `env:VARIABLE`, `keyring:NAME` or `file:NAME` (in the workspace's `.keys`).",
    )
    timeout_s: Annotated[float, Field(gt=0, le=3600)] = Field(
        300.0, description="How long one question may take until it is answered, further tries included, in seconds."
    )
    silence_s: Annotated[float, Field(gt=0, le=3600)] = Field(
        45.0, description="How long a model that began to speak may be silent, in seconds."
    )
    context: Annotated[int, Field(ge=1024, le=2_000_000)] = Field(8192, description="How many tokens it can see.")
    threads: Annotated[int, Field(ge=1, le=256)] = Field(1, description="How many threads a local model uses.")
    price_in: Annotated[float, Field(ge=0, le=1e6)] = Field(
        0.0, description="Price of a million tokens read, in dollars."
    )
    price_out: Annotated[float, Field(ge=0, le=1e6)] = Field(
        0.0, description="Price of a million tokens written, in dollars."
    )

    @property
    def configured(self) -> bool:
        """Whether a model is named here at all."""
        return bool(self.url if self.provider == "openai" else self.name)


class ModelsSettings(Section):
    main: ModelSettings = Field(default_factory=ModelSettings, description="The model that plans.")
    fast: ModelSettings = Field(
        default_factory=ModelSettings, description="A small one for short questions. If none is set: `main`."
    )
    wise: ModelSettings = Field(
        default_factory=ModelSettings, description="A great one for hard questions. If none is set: `main`."
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(2, description="How often a call that failed is tried again.")
    turn_tokens: Annotated[int, Field(ge=0, le=100_000_000)] = Field(
        60_000, description="How many tokens one turn may use; no call is begun that could go beyond."
    )
    turn_usd: Annotated[float, Field(ge=0, le=1000)] = Field(
        0.50, description="How many dollars one turn may cost; no call is begun that could go beyond."
    )


class EmbedSettings(Section):
    kind: Literal["builtin", "openai", "fastembed", "onnx", "none"] = Field(
        "builtin",
        description="`builtin` (offline, sixteen languages), `openai` (a server's `/v1/embeddings`), `fastembed`, "
        "`onnx` (a folder with a model and its tokenizer), or `none`: words only.",
    )
    url: str = Field("", pattern=_ADDRESS, description="Base address of the server, for `openai`.")
    name: str = Field("", description="Which model, for `openai` and `fastembed`.")
    folder: str = Field("", description="Where model and tokenizer lie, for `onnx`.")
    key: str = Field(
        "", pattern=r"^((env|keyring|file):[A-Za-z0-9_.-]{1,64})?$", description="Where the server's key is."
    )
    cache: Annotated[int, Field(ge=0, le=1_000_000)] = Field(4096, description="How many vectors are remembered.")
