CREATE TABLE gateway_teams (
	name    TEXT    COLLATE "C" PRIMARY KEY, -- also the limit_name of the keys of the team
	folded  TEXT    NOT NULL, -- the name without letter case, for searches
	models  TEXT    NOT NULL, -- JSON array of patterns; empty for all
	rules   TEXT    NOT NULL, -- JSON object with the rules of the limit
	created BIGINT  NOT NULL
);

CREATE TABLE gateway_members (
	team    TEXT    COLLATE "C" NOT NULL REFERENCES gateway_teams (name) ON DELETE CASCADE,
	user_id BIGINT  NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
	admin   BOOLEAN NOT NULL,
	PRIMARY KEY (team, user_id)
);

CREATE INDEX gateway_members_user ON gateway_members (user_id);
CREATE INDEX gateway_keys_limit ON gateway_keys (limit_name);
