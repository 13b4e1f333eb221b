"""What is said when the inside of a run can not be had right now."""

TEXT = {
    "error.inside_needs_model": "This part was not recorded. Load {name}, the model that made this run, and it will be computed.",
    "error.jobs_full": "{waiting} computations are under way already, as many as this server takes. Try again in a little while.",
}
