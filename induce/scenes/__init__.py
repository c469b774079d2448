"""Labelled scenes from files, folders, tables and Python records, validated before learning."""

from induce.scenes.labelled import LabelledScenes
from induce.scenes.readers import FORMATS, load_json, load_scenes

__all__ = ["FORMATS", "LabelledScenes", "load_json", "load_scenes"]
