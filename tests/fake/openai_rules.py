"""What OpenAI's two APIs refuse in the same words."""
import re

from rules import Refused

NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
TYPES = {str: "a string", list: "an array of objects", dict: "an object",
         bool: "a boolean", int: "an integer", float: "a number"}


def bad(message, param=None, code=None):
    raise Refused(400, message, param=param, code=code)


def error(r):
    return {"error": {"message": r.message, "type": r.kind, "param": r.param,
                      "code": r.code}}


def got(value):
    if value is None:
        return "null"
    return "an array" if isinstance(value, list) else TYPES[type(value)]


def typed(value, kind, where):
    """The value when it is of that type."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        bad("Invalid type for '%s': expected %s, but got %s instead." %
            (where, TYPES[kind], got(value)), where, "invalid_type")
    return value


def needed(obj, key, kind, where):
    where = (where + "." if where else "") + key
    if key not in obj:
        bad("Missing required parameter: '%s'." % where, where,
            "missing_required_parameter")
    return typed(obj[key], kind, where)


def optional(obj, key, kind, where=""):
    if obj.get(key) is not None:
        return typed(obj[key], kind, (where + "." if where else "") + key)
    return None


def one_of(value, words, where):
    if value not in words:
        listed = ", ".join("'%s'" % w for w in words[:-1])
        listed = "%s and '%s'" % (listed, words[-1]) if listed else \
            "'%s'" % words[-1]
        bad("Invalid value: '%s'. Supported values are: %s." % (value, listed),
            where, "invalid_value")
    return value


def not_empty(value, where):
    if not value:
        bad("Invalid '%s': empty array. Expected an array with minimum length "
            "1, but got an empty array instead." % where, where, "empty_array")


def at_most(text, size, where):
    if len(text) > size:
        bad("Invalid '%s': string too long. Expected a string with maximum "
            "length %d, but got a string with length %d instead." %
            (where, size, len(text)), where, "string_above_max_length")


def only(obj, keys, where=""):
    for key in obj:
        if key not in keys:
            where = (where + "." if where else "") + key
            bad("Unknown parameter: '%s'." % where, where, "unknown_parameter")


def name(text, where):
    if not NAME.match(text):
        bad("Invalid '%s': string does not match pattern. Expected a string "
            "that matches the pattern '^[a-zA-Z0-9_-]+$'." % where, where,
            "invalid_value")
    at_most(text, 64, where)


def function(f, where):
    """A tool's name, description, parameters and strict."""
    name(needed(f, "name", str, where), where + ".name")
    optional(f, "description", str, where)
    optional(f, "strict", bool, where)
    schema = optional(f, "parameters", dict, where)
    if schema is None:
        return
    if schema.get("type") != "object":
        bad("Invalid schema for function '%s': schema must be a JSON Schema of "
            "'type: \"object\"', got 'type: \"%s\"'." %
            (f["name"], schema.get("type")), where + ".parameters",
            "invalid_function_parameters")
    subschema(f, schema, (), where + ".parameters")


def subschema(f, schema, context, where):
    if not isinstance(schema, dict):
        wrong_schema(f, context, "%r is not of type 'object', 'boolean'" %
                     (schema,), where)
    properties = schema.get("properties") or {}
    if schema.get("type") == "array" and "items" not in schema:
        wrong_schema(f, context, "array schema missing items", where)
    if f.get("strict") and schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            wrong_schema(f, context, "'additionalProperties' is required to be "
                         "supplied and to be false", where)
        if set(schema.get("required") or ()) != set(properties):
            wrong_schema(f, context, "'required' is required to be supplied "
                         "and to be an array including every key in "
                         "properties", where)
    for key, sub in properties.items():
        subschema(f, sub, context + ("properties", key), where)
    if isinstance(schema.get("items"), dict):
        subschema(f, schema["items"], context + ("items",), where)


def wrong_schema(f, context, what, where):
    bad("Invalid schema for function '%s': In context=%s, %s." %
        (f["name"], context, what), where, "invalid_function_parameters")


def tools(req, check_one):
    """The tools and what makes no sense without them."""
    offered = optional(req, "tools", list)
    if "tools" in req and offered is not None:
        not_empty(offered, "tools")
    names = [check_one(typed(t, dict, "tools[%d]" % i), "tools[%d]" % i)
             for i, t in enumerate(offered or [])]
    for n in names:
        if names.count(n) > 1:
            bad("Duplicate tool name '%s'." % n, "tools", "invalid_value")
    if not offered:
        for key in ("tool_choice", "parallel_tool_calls"):
            if req.get(key) is not None:
                bad("Invalid value for '%s': '%s' is only allowed when 'tools' "
                    "are specified." % (key, key), key)


def common(req):
    """Parameters that both APIs have."""
    model = req.get("model")
    if not isinstance(model, str) or not model:
        bad("you must provide a model parameter")
    for key in ("stream", "store", "parallel_tool_calls"):
        optional(req, key, bool)
    heat = optional(req, "temperature", float)
    if heat is not None and not 0 <= heat <= 2:
        bad("Invalid 'temperature': decimal out of range. Expected a value "
            "between 0 and 2.", "temperature", "decimal_out_of_range")
    for key in ("prompt_cache_key", "user", "safety_identifier"):
        at_most(optional(req, key, str) or "", 64, key)
    if req.get("stream_options") is not None and not req.get("stream"):
        bad("The 'stream_options' parameter is only allowed when 'stream' is "
            "enabled.", "stream_options")


def at_least(req, key, least):
    value = optional(req, key, int)
    if value is not None and value < least:
        bad("Invalid '%s': integer below minimum value. Expected a value >= "
            "%d, but got %d instead." % (key, least, value), key,
            "integer_below_min_value")
    return value
