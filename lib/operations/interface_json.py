"""What interfaces say of operations in JSON, for generate.py: the tools of MCP, the operations of OpenAPI.

Members whose value is None are not written.
"""

import json
import re

from operation_tables import sentence


class Verbatim(str):
    """C++ or JSON that is written as it is, not as a string."""


def written(value):
    """A value in JSON, without members that are None; texts, numbers and flags are the same in C++."""
    if isinstance(value, Verbatim):
        return value
    if isinstance(value, dict):
        members = [f"{written(name)}: {written(each)}" for name, each in value.items() if each is not None]
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def type_schema(view, kind, is_brief=False):
    """The type in a JSON Schema of a number, a share, a flag or a text; a brief one without bounds."""
    if kind not in ("number", "share"):
        return {"type": "boolean" if kind == "flag" else "string"}
    least, most = (0, 1) if kind == "share" else view.all["range"]
    bounds = {} if is_brief else {"minimum": least, "maximum": most}
    return {"type": "number" if kind == "share" else "integer", **bounds}


def argument_schema(view, is_brief):
    """The JSON Schema of one member of a tool's arguments or of a request's body."""
    if own := view.own["schema"]:
        return Verbatim(f'{own[: own.rindex("}")]}, "description": {written(view.argument_help)}}}')
    kind, choices = view.argument_kind, view.all["choices"]

    def limit(name):
        return None if is_brief else view.own[name] or None

    schema = type_schema(view, kind, is_brief)
    if kind == "texts":
        schema = {"type": "array", "items": {"type": "string", "enum": choices or None}}
        schema |= {"minItems": limit("count_min"), "maxItems": limit("count_max")}
    elif schema["type"] == "string":
        schema["enum"] = choices if kind == "choice" else None
        schema["minLength"] = 1 if view.all["not_empty"] and not is_brief else None
        schema["maxLength"] = limit("length_max")
    return {**schema, "description": view.argument_help}


def object_schema(views, is_brief=False):
    """The JSON Schema of an object with these members."""
    return {
        "type": "object",
        "properties": {view.name: argument_schema(view, is_brief) for view in views},
        "required": [view.name for view in views if view.own["required"]] or None,
        "additionalProperties": False,
    }


def tool_json(mcp, schema, is_brief=False):
    """The tool object of tools/list. A brief one has what a model needs: each byte is sent with each of its
    requests."""
    hints = mcp["hints"]
    annotations = {"readOnlyHint": "writes" not in hints, "openWorldHint": False}
    if "writes" in hints or not is_brief:  # They say nothing of a tool that only reads.
        annotations |= {f"{hint}Hint": hint in hints for hint in ("destructive", "idempotent")}
    tool = {
        "name": mcp["tool"],
        "title": None if is_brief else mcp["title"],
        "description": mcp["description"],
        "inputSchema": schema,
        "outputSchema": None if is_brief or not mcp["output"] else Verbatim(mcp["output"]),
        "annotations": annotations,
        # Claude Code shows a model the names of tools alone until it asks for one, except for these.
        "_meta": {"anthropic/alwaysLoad": True} if "always_loaded" in hints else None,
    }
    return written(tool)


def reference(name):
    return {"$ref": f"#/components/schemas/{name}"}


def query_json(view):
    """A parameter of a query as OpenAPI describes it."""
    kind, default = view.all["kind"] or "text", view.all["default"]
    schema = type_schema(view, kind) | {
        "minLength": 1 if kind == "text" and not view.all["may_be_empty"] else None,
        "enum": view.all["choices"] if kind == "choice" else None,
        "default": (default if kind == "choice" else Verbatim(default)) if default else None,
    }
    if kind == "type":
        schema = reference("EntryTypeOrGroup")
    is_list = view.all["repeatable"]
    return {
        "name": view.name,
        "in": "query",
        "description": view.help,
        "required": view.all["required"],
        "style": "form" if is_list else None,
        "explode": True if is_list else None,
        "schema": {"type": "array", "items": schema} if is_list else schema,
    }


def body_json(http, body):
    """The body of a request as OpenAPI describes it: a shape, or an object of members; None without both."""
    if not http["request"] and not body:
        return None
    schema = reference(http["request"]) if http["request"] else object_schema(body)
    schema["minProperties"] = 1 if http["needs_body"] else None  # One of the members, whichever.
    is_needed = bool(http["request"] or schema["required"] or http["needs_body"])
    return {"required": is_needed, "content": {"application/json": {"schema": schema}}}


def answers_json(http):
    """The responses to a request as OpenAPI describes them."""
    answer = reference(http["answer"]) if http["answer"] else {"type": "string"}
    media_types = re.split(r",\s*", http["media_type"] or "application/json")
    done = {
        "description": "Done.",
        "headers": Verbatim(http["headers"]) if http["headers"] else None,
        "content": {media_type: {"schema": answer} for media_type in media_types},
    }
    return {str(http["status"] or 200): done, "default": {"$ref": "#/components/responses/Failure"}}


def operation_json(row, method, path, query, body):
    """An operation as OpenAPI describes it."""
    http = row["http"]
    # "get_record_id_history" for GET /memory/record/{id}/history: each once.
    name = method + re.sub("[{}]", "", path.removeprefix("/memory")).replace("/", "_")
    schema = {"type": "string", "minLength": 1}
    in_path = [
        {"name": each, "in": "path", "required": True, "schema": schema}
        for each in re.findall("{(.*?)}", path)
    ]
    operation = {
        "operationId": name.lower(),
        "summary": http["summary"] or sentence(row["summary"]),
        "parameters": in_path + list(map(query_json, query)),
        "requestBody": body_json(http, body),
        "responses": answers_json(http),
    }
    return written(operation)
