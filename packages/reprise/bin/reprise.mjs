#!/usr/bin/env node
// The command of @reprise/cli, which chooses a Node that can run it.

import '@reprise/cli/command'
