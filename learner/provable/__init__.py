"""The six phases of Chen & Li (STOC 2025), one file each, and the pipeline that walks them."""
