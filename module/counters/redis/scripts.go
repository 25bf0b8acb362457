package redis

import (
	_ "embed"

	goredis "github.com/redis/go-redis/v9"
)

//go:embed now.lua
var nowText string

//go:embed known.lua
var knownText string

//go:embed admit.lua
var admitText string

//go:embed view.lua
var viewText string

//go:embed settle.lua
var settleText string

//go:embed renew.lua
var renewText string

//go:embed restore.lua
var restoreText string

// The scripts. The server runs each of them without interruption.
var (
	admitScript   = goredis.NewScript(nowText + knownText + admitText)
	viewScript    = goredis.NewScript(nowText + knownText + viewText)
	settleScript  = goredis.NewScript(nowText + knownText + settleText)
	renewScript   = goredis.NewScript(nowText + renewText)
	restoreScript = goredis.NewScript(knownText + restoreText)
)
