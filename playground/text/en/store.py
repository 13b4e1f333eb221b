"""Trace files: what can be wrong with one."""

TEXT = {
    "error.trace_read": "The file {file} can not be read ({why}).",
    "error.trace_write": "The file {file} can not be written ({why}).",
    "error.trace_not_file": "{file} is not an ordinary file.",
    "error.trace_size": "The trace file is larger than the limit of {limit} bytes, unpacked or "
    "as it is.",
    "error.trace_gzip": "The trace file is not whole: its gzip data is cut off or damaged. "
    "Download it again.",
    "error.trace_json": "This is not a trace file: it is not JSON in UTF-8.",
    "error.trace_depth": "This is not a trace file: it is nested deeper than {limit} levels.",
    "error.trace_values": "The trace file has too many values to be read safely.",
    "error.trace_duplicate": "The trace file names the key {name} twice in one object.",
    "error.trace_number": "The trace file contains {value}, which is no finite number of normal "
    "length.",
    "error.trace_future": "The trace file has schema {schema}; this version knows schemas up to "
    "{known}. Update the playground to open it.",
    "error.trace_object": "The trace file is malformed: {path} must be an object.",
    "error.trace_missing": "The trace file is malformed: {path} lacks the key {name}.",
    "error.trace_unknown": "The trace file is malformed: {path} has an unknown key {name}.",
    "error.trace_list": "The trace file is malformed: {path} must be a list.",
    "error.trace_length": "The trace file is malformed: {path} is longer than {limit}.",
    "error.trace_shape": "The trace file is malformed: {path} must have {want} values, not {got}.",
    "error.trace_empty": "The trace file is malformed: {path} must not be empty.",
    "error.trace_text": "The trace file is malformed: {path} must be a string.",
    "error.trace_surrogate": "The trace file is malformed: {path} contains half a character "
    "(a lone surrogate).",
    "error.trace_choice": "The trace file is malformed: {path} must be one of {choices}.",
    "error.trace_form": "The trace file is malformed: {path} is not written as it must be.",
    "error.trace_hex": "The trace file is malformed: {path} must be bytes in lower-case hex.",
    "error.trace_flag": "The trace file is malformed: {path} must be true or false.",
    "error.trace_whole": "The trace file is malformed: {path} must be a whole number.",
    "error.trace_figure": "The trace file is malformed: {path} must be a number.",
    "error.trace_range": "The trace file is malformed: {path} must be a number in {low} … {high}.",
    "error.trace_stages": "The trace file is malformed: {path} must begin with logits and keep "
    "the order {order}.",
    "error.trace_contradiction": "The trace file contradicts itself: {path} does not agree with "
    "{other}.",
}
