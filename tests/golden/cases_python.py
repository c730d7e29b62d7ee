GROUPS = {}
