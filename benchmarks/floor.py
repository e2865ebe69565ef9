"""
The floor: the least that replaying N cases can cost in Python, in one file, without any of the product.

Each case reads one file with three recorded requests and responses, runs a loop with two tool calls, hashes each whole
request and compares it with the recorded hash, checks the answer four times, and writes one line. Usage: floor.py FOLDER
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec

decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder(order="deterministic").encode


def tool(name: str, city: str) -> str:
    """Answer a tool call."""
    return encode({"city": city, "temperature_c": 7 if name == "get_weather" else 0}).decode()


def run(path: Path) -> bytes:
    """Replay one case and return its line."""
    case = decode(path.read_bytes())
    messages = list(case["start"])
    answer = ""
    calls = 0
    for recorded in case["calls"]:
        request = {"model": "m", "messages": messages, "tools": case["tools"]}
        if hashlib.sha256(encode(request)).hexdigest() != recorded["hash"]:
            raise SystemExit(f"{path}: request differs")
        message = decode(recorded["response"].encode())["choices"][0]["message"]
        messages.append(message)
        for asked in message.get("tool_calls") or ():
            arguments = decode(asked["function"]["arguments"].encode())
            calls += 1
            messages.append(
                {"role": "tool", "tool_call_id": asked["id"], "content": tool(asked["function"]["name"], **arguments)}
            )
        answer = message.get("content") or ""
    kept = "7" in answer and calls == 2 and "sorry" not in answer and answer.count("```") % 2 == 0
    return encode({"case": path.stem, "kept": kept, "calls": calls}) + b"\n"


def make(folder: Path, cases: int) -> None:
    """Write *cases* recordings of one conversation into *folder*."""
    tools = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
        for name in ("get_weather", "get_sun")
    ]
    start = [{"role": "system", "content": "You are careful. " * 60}, {"role": "user", "content": "How warm is it?"}]
    messages: list[dict[str, object]] = list(start)  # type: ignore[arg-type]
    calls = []
    for number in range(3):
        request = {"model": "m", "messages": messages, "tools": tools}
        message: dict[str, object] = {"role": "assistant", "content": "It is 7 °C."}
        if number < 2:
            function = {"name": "get_weather", "arguments": '{"city":"Berlin"}'}
            message = {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            }
        response = encode(
            {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}}
        ).decode()
        calls.append({"hash": hashlib.sha256(encode(request)).hexdigest(), "response": response})
        messages.append(message)
        if number < 2:
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": tool("get_weather", "Berlin")})
    content = encode({"start": start, "tools": tools, "calls": calls})
    for number in range(cases):
        (folder / f"case-{number:05d}.json").write_bytes(content)


if __name__ == "__main__":
    with Path(sys.argv[1], "results.jsonl").open("wb") as results:
        results.writelines(run(found) for found in sorted(Path(sys.argv[1]).glob("case-*.json")))
