"""Clock and memory: what a step costs. Arithmetic as in verl's ``metric_utils`` (per-GPU throughput, timers that add
up to the step, tokens times per-token times), with generation bounded by its slowest trajectory.
"""

from __future__ import annotations

import numpy as np

from evals.diagnosis.advantages import single, spread
from evals.diagnosis.batch import Batch
from evals.diagnosis.world import Floats, Record, World

PEAK = 989e12
"""Dense bf16 FLOP/s of an H100, verl ``flops_counter._DEVICE_FLOPS``."""


def shapes(world: World, batch: Batch, rng: np.random.Generator) -> Record:
    """Lengths, turns and tokens a part, from the batch alone."""
    setup, knobs = world.setup, world.knobs
    prompt = np.repeat(batch.prompt[:, None], setup.group, axis=1)
    total = (prompt + batch.length).ravel()
    tokens = int(total.sum())
    parts = np.add.reduceat(total, np.arange(0, len(total), len(total) // setup.parts))[: setup.parts].astype(int)
    mean = tokens / setup.parts
    near = max(1, int(mean * (2e-5 + 0.4 * knobs.imbalance * (1 + 0.1 * rng.random()))))
    far = max(1, int(mean * (2e-5 + knobs.imbalance * (1 + 0.1 * rng.random()))))
    record: Record = {
        "global_seqlen/min": int(parts.min()),
        "global_seqlen/max": int(parts.max()),
        "global_seqlen/minmax_diff": int(parts.max() - parts.min()),
        "global_seqlen/balanced_min": int(np.floor(mean)) - near * (knobs.imbalance > 0),
        "global_seqlen/balanced_max": int(np.ceil(mean)) + far * (knobs.imbalance > 0),
        "global_seqlen/mean": mean,
    }
    cut = single(float((batch.length >= setup.cap).mean()))
    for key in ("response_length", "response_length_non_aborted"):
        record |= spread(key, batch.length) | {f"{key}/clip_ratio": cut}
    record["response/aborted_ratio"] = 0.0
    record |= spread("prompt_length", prompt) | {"prompt_length/clip_ratio": 0.0}
    ended = batch.length[batch.stopped]
    record |= {
        "sim/unstopped": float(1 - batch.stopped.mean()),
        "sim/ended_mean": float(ended.mean()) if ended.size else 0.0,
        "sim/ended_min": float(ended.min()) if ended.size else 0.0,
        "sim/ended_max": float(ended.max()) if ended.size else 0.0,
        "sim/length_diff": float(np.ptp(batch.length, axis=1).mean()),
        "sim/fill": float(batch.length.mean()) / setup.cap,
        "sim/imbalance": far * (knobs.imbalance > 0) / mean,
        "sim/cut_count": int((batch.length >= setup.cap).sum()),
        "perf/total_num_tokens": tokens,
    }
    turns = 2 + 2 * batch.calls
    record["num_turns/min"] = int(turns.min())
    record["num_turns/max"] = int(turns.max())
    record["num_turns/mean"] = float(turns.mean())
    if setup.agentic:
        for name, value in (("min", batch.calls.min()), ("max", batch.calls.max()), ("mean", batch.calls.mean())):
            record[f"tool_call_counts/{name}"] = int(value) if name != "mean" else float(value)
        calls = batch.calls.sum()
        record["tools/call_frequency"] = float(batch.calls.mean())
        record["tools/failure_frequency"] = float(batch.failures.sum() / calls) if calls else 0.0
    return record


def _generation(world: World, batch: Batch, rng: np.random.Generator) -> tuple[Record, float]:
    """Seconds of every trajectory in the engine and with its tools; the slowest one bounds the stage."""
    setup, knobs = world.setup, world.knobs
    shape = batch.length.shape
    load = setup.size / setup.gpus
    speed = world.tokens_per_second / (1 + load / 160) * np.exp(0.05 * rng.standard_normal(shape)) / knobs.slow
    service = (batch.length + 12) / speed
    slow = rng.random(shape)
    if knobs.tail:
        slowest = slow < max(0.008, 1.5 / slow.size)
        service = np.where(slowest, np.maximum(service, np.median(service)) * (1 + 7 * knobs.tail), service)
    waiting = np.zeros(shape)
    if knobs.queue:
        end = service.max() * (1 + 1.2 * knobs.queue)
        service = service + (end - service) * (0.55 + 0.35 * knobs.queue) * (0.9 + 0.2 * slow)
        waiting = 0.6 * knobs.queue * (0.5 + batch.length / batch.length.mean())
    preempted = rng.poisson(waiting)
    waits = knobs.tool_latency * rng.gamma(1.2, 1 / 1.2, shape) * batch.calls
    waits = waits + (batch.failures > 0) * min(60.0, 8 * knobs.tool_latency)
    whole = service + waits
    worst = np.unravel_index(int(whole.argmax()), shape)
    seconds = float(whole.max()) * (1.012 + 0.008 * rng.random()) * batch.tries + 0.4
    prefix = "timing_s/agent_loop"
    record: Record = {}
    for name, values in (("generate_sequences", service), ("tool_calls", waits), ("num_preempted", preempted)):
        for kind, value in (("min", values.min()), ("max", values.max()), ("mean", values.mean())):
            record[f"{prefix}/{name}/{kind}"] = float(value)
    record |= {
        f"{prefix}/slowest/generate_sequences": float(service[worst]),
        f"{prefix}/slowest/tool_calls": float(waits[worst]),
        f"{prefix}/slowest/prompt_length": int(batch.prompt[worst[0]]),
        f"{prefix}/slowest/response_length": int(batch.length[worst]),
        "timing_s/gen": seconds,
        "train/num_gen_batches": batch.tries,
        "sim/busy": float(whole.mean()) / seconds,
    }
    return record, seconds


def clock(world: World, batch: Batch, rng: np.random.Generator, *, tested: bool) -> Record:
    """Timers, throughput and memory of the step."""
    setup, knobs, machine = world.setup, world.knobs, world.machine
    noise = rng.standard_normal(12)
    prompt = np.repeat(batch.prompt[:, None], setup.group, axis=1)
    tokens = int((prompt + batch.length).sum())
    answers = float(batch.length.sum())
    record, gen = _generation(world, batch, rng)
    flops = 6 * setup.params * 1e9 * tokens * 1.06 / (setup.gpus * PEAK)
    wait = 1 + knobs.imbalance * 0.9
    update = (flops / 0.36 * np.exp(0.012 * noise[0]) * knobs.update_slow + 1.2) * wait
    forward = (0.28 * flops / 0.36 * np.exp(0.012 * noise[1]) * knobs.forward_slow + 0.6) * (1 + knobs.imbalance * 0.5)
    parts: dict[str, float] = {"gen": gen, "reward": knobs.reward_time * float(np.exp(0.15 * noise[2]))}
    parts["old_log_prob"] = float(forward)
    if setup.kl != "none":
        parts["ref"] = float(forward * (1.02 + 0.02 * abs(noise[3])))
    if setup.algorithm == "ppo":
        parts["values"] = float(forward * (1.03 + 0.02 * abs(noise[4])))
    parts["adv"] = 0.04 + 3e-8 * tokens * float(np.exp(0.08 * noise[5]))
    if setup.algorithm == "ppo":
        parts["update_critic"] = float(update * 0.86 * np.exp(0.01 * noise[6]))
    if world.step > knobs.warm_critic:
        parts["update_actor"] = float(update)
    parts["update_weights"] = 1.5 + 0.35 * setup.params * float(np.exp(0.05 * noise[7]))
    step = sum(parts.values()) * (1 + 4e-4 * (1 + 0.1 * rng.random())) + 0.02
    record |= {f"timing_s/{name}": seconds for name, seconds in parts.items()}
    record["timing_s/step"] = step
    record["timing_per_token_ms/gen"] = gen * 1000 / answers
    for name in ("ref", "values", "adv", "update_critic", "update_actor"):
        if name in parts:
            record[f"timing_per_token_ms/{name}"] = parts[name] * 1000 / tokens
    record["perf/time_per_step"] = step
    record["perf/throughput"] = tokens / (step * setup.gpus)
    for name in ("actor", "critic"):
        if f"update_{name}" in parts:
            inner = parts[f"update_{name}"] * 0.985
            record[f"perf/mfu/{name}"] = float(6 * setup.params * 1e9 * tokens * 1.06 / (inner * setup.gpus * PEAK))
    bench = setup.validation
    if tested:
        rounds = bench.problems * bench.samples / max(1, setup.size)
        record["timing_s/testing"] = float(gen / batch.tries * (0.85 + 0.5 * rounds) * np.exp(0.05 * noise[8]))
    if setup.save_every and world.step % setup.save_every == 0:
        record["timing_s/save_checkpoint"] = float((6 + 2.4 * setup.params) * np.exp(0.1 * noise[9]))
    record |= _memory(world, batch.length + prompt, noise)
    record["sim/reward_seconds"] = parts["reward"]
    record["sim/gen_share"] = gen / step
    machine.tokens += tokens
    record["sim/tokens_seen"] = machine.tokens
    return record


def _memory(world: World, totals: Floats, noise: Floats) -> Record:
    """Process peaks (never falling until a restart), the caching allocator's share and the host's memory."""
    setup, knobs, machine = world.setup, world.knobs, world.machine
    machine.age += 1
    machine.leaked += knobs.leak
    base = 16 * setup.params / setup.gpus + 2 * setup.params / 4 + 9
    load = 4 * float(totals.max()) / 1000 * (0.25 + 0.04 * setup.params)
    live = base + min(load, 0.4 * setup.hbm) * (1 + 0.01 * noise[10])
    live = min(live, 0.9 * setup.hbm) + min(machine.leaked, max(0.0, 0.985 * setup.hbm - min(live, 0.9 * setup.hbm)))
    machine.allocated = max(machine.allocated, live)
    machine.reserved = max(machine.reserved, min(0.99 * setup.hbm, live * 1.07 + 0.6))
    settled = 120 + 8 * setup.params * (1 - float(np.exp(-machine.age / 15)))
    machine.host = settled + 12 * machine.leaked + 1.5 * float(noise[11])
    return {
        "perf/max_memory_allocated_gb": machine.allocated,
        "perf/max_memory_reserved_gb": machine.reserved,
        "perf/cpu_memory_used_gb": machine.host,
        "sim/start_allocated": 1.6 + machine.leaked + 0.02 * abs(float(noise[10])),
        "sim/reserved_frac": machine.reserved / setup.hbm,
    }
