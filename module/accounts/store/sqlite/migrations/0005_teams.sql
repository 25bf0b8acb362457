CREATE TABLE gateway_teams (
	name    TEXT    PRIMARY KEY, -- also the limit_name of the keys of the team
	folded  TEXT    NOT NULL, -- the name without letter case, for searches
	models  TEXT    NOT NULL, -- JSON array of patterns; empty for all
	rules   TEXT    NOT NULL, -- JSON object with the rules of the limit
	created INTEGER NOT NULL
) STRICT;

CREATE TABLE gateway_members (
	team    TEXT    NOT NULL REFERENCES gateway_teams (name) ON DELETE CASCADE,
	user_id INTEGER NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	admin   INTEGER NOT NULL,
	PRIMARY KEY (team, user_id)
) STRICT;

CREATE INDEX gateway_members_user ON gateway_members (user_id);
CREATE INDEX gateway_keys_limit ON gateway_keys (limit_name);
