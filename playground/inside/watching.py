"""Hooks for one forward in one thread: set, used, and gone, whatever happens in between.

A forward of another thread on the same model passes through untouched and unseen. Attention is
watched where transformers hands q, k, v and the mask to its attention function (`get_interface`
in `modeling_utils.py`, 5.24): for the time of the watch a module's `config` is one that names
ours, which calls the real one with the very same arguments; the model's config, from which the
masks are made, stays as it is. So watching leaves the logits bit-equal.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

_NAME = "playground_watched"
_ONE = threading.Lock()  # configs are put back in order: one watch at a time

# What enters or leaves a module, [T, …] or [1, T, …]; a tensor given back takes its place.
See = Callable[[torch.Tensor], torch.Tensor | None]
SeeOptions = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of the attention function: q [1, H, T, E]; k, v [1, G, T, E]; what else it got."""

    real: Callable[..., Any]
    module: nn.Module
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    mask: Any
    options: Mapping[str, Any]

    def run(self) -> tuple[torch.Tensor, Any]:
        """(weighted values [1, T, H, E], what else the function gives)."""
        output: tuple[torch.Tensor, Any] = self.real(
            self.module, self.q, self.k, self.v, self.mask, **self.options
        )
        return output

    def with_mask(self, mask: torch.Tensor) -> Call:
        return replace(self, mask=mask)


Ear = Callable[[Call], tuple[torch.Tensor, Any]]


class _Config:
    """A module's config, but for the name of the attention function."""

    _attn_implementation = _NAME

    def __init__(self, config: Any, real: Callable[..., Any], ear: Ear, thread: int) -> None:
        self.__dict__.update(config=config, real=real, ear=ear, thread=thread)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["config"], name)


def _attend(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
    attention_mask: Any, **options: Any,
) -> tuple[torch.Tensor, Any]:  # fmt: skip
    watched = module.config.__dict__
    call = Call(watched["real"], module, query, key, value, attention_mask, options)
    if watched["thread"] != threading.get_ident():
        return call.run()
    ear: Ear = watched["ear"]
    return ear(call)


AttentionInterface.register(_NAME, _attend)


class Watch:
    """`with Watch() as watch:` set what is to be seen, then run the model in the same thread."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._handles: list[Any] = []
        self._configs: list[tuple[nn.Module, Any]] = []

    def __enter__(self) -> Watch:
        _ONE.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for handle in self._handles:
            handle.remove()
        for module, config in self._configs:
            module.__dict__["config"] = config
        _ONE.release()

    def enters(self, module: nn.Module, see: See, options: SeeOptions | None = None) -> None:
        """Before `module` runs: its first tensor; `options`: its named arguments."""

        def hook(
            _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
            if threading.get_ident() != self._thread:
                return None
            if options is not None:
                options(kwargs)
            if args:
                new = see(args[0])
                return None if new is None else ((new, *args[1:]), kwargs)
            name = next(name for name, v in kwargs.items() if isinstance(v, torch.Tensor))
            new = see(kwargs[name])
            return None if new is None else (args, {**kwargs, name: new})

        self._handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))

    def leaves(self, module: nn.Module, see: See) -> None:
        """After `module` has run: its output, or the first of several."""

        def hook(_: nn.Module, args: Any, output: Any) -> Any:
            if threading.get_ident() != self._thread:
                return None
            several = isinstance(output, tuple)
            new = see(output[0] if several else output)
            return (new, *output[1:]) if several and new is not None else new

        self._handles.append(module.register_forward_hook(hook))

    def attends(self, module: nn.Module, ear: Ear) -> bool:
        """At the call of the attention function; False where the module does not call one."""
        real = _real(module)
        if real is None:
            return False
        config = module.__dict__["config"]
        self._configs.append((module, config))
        module.__dict__["config"] = _Config(config, real, ear, self._thread)
        return True


def _real(module: nn.Module) -> Callable[..., Any] | None:
    """The attention function that `module` would call, as it looks it up itself."""
    config = module.__dict__.get("config")
    name = getattr(config, "_attn_implementation", None)
    home = sys.modules[type(module).__module__]
    eager: Callable[..., Any] | None = getattr(home, "eager_attention_forward", None)
    # GPT-2's own upcast path is taken by the name "eager" itself, which would be another.
    if eager is None or name is None or getattr(config, "reorder_and_upcast_attn", False):
        return None
    # A family may keep an attention interface of its own under the same name.
    interface = getattr(home, "ALL_ATTENTION_FUNCTIONS", ALL_ATTENTION_FUNCTIONS)
    if interface is not ALL_ATTENTION_FUNCTIONS:
        return None
    real: Callable[..., Any] = interface.get_interface(name, eager)
    return real
