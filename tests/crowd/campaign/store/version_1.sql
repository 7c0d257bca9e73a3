BEGIN TRANSACTION;
CREATE TABLE campaign (
	id INTEGER NOT NULL, 
	schema_version INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	classes TEXT NOT NULL, 
	prior TEXT NOT NULL, 
	budget INTEGER, 
	money BIGINT, 
	max_workers_per_task INTEGER, 
	max_tasks_per_worker INTEGER, 
	gate FLOAT NOT NULL, 
	target FLOAT NOT NULL, 
	lease_seconds FLOAT NOT NULL, 
	per_pair INTEGER NOT NULL, 
	source TEXT NOT NULL, 
	slots INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	committed BIGINT NOT NULL, 
	missing INTEGER NOT NULL, 
	rounds INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT within_budget CHECK (slots <= budget), 
	CONSTRAINT within_money CHECK (committed <= money)
);
INSERT INTO "campaign" VALUES(1,1,9,0,'["a", "b"]','[0.5, 0.5]',6,NULL,3,NULL,0.0,0.95,900.0,0,'gold',5,4,0,0,0);
CREATE TABLE gold (
	task TEXT NOT NULL, 
	label INTEGER NOT NULL, 
	PRIMARY KEY (task)
);
INSERT INTO "gold" VALUES('g0',0);
INSERT INTO "gold" VALUES('g1',1);
INSERT INTO "gold" VALUES('g2',0);
INSERT INTO "gold" VALUES('g3',1);
INSERT INTO "gold" VALUES('g4',0);
INSERT INTO "gold" VALUES('g5',1);
INSERT INTO "gold" VALUES('g6',0);
INSERT INTO "gold" VALUES('g7',1);
CREATE TABLE gold_answer (
	task TEXT NOT NULL, 
	worker TEXT NOT NULL, 
	label INTEGER NOT NULL, 
	UNIQUE (task, worker)
);
INSERT INTO "gold_answer" VALUES('g0','ann',1);
INSERT INTO "gold_answer" VALUES('g0','bob',0);
INSERT INTO "gold_answer" VALUES('g0','cy',0);
INSERT INTO "gold_answer" VALUES('g1','ann',1);
INSERT INTO "gold_answer" VALUES('g1','bob',1);
INSERT INTO "gold_answer" VALUES('g1','cy',1);
INSERT INTO "gold_answer" VALUES('g2','ann',0);
INSERT INTO "gold_answer" VALUES('g2','bob',0);
INSERT INTO "gold_answer" VALUES('g2','cy',0);
INSERT INTO "gold_answer" VALUES('g3','ann',1);
INSERT INTO "gold_answer" VALUES('g3','bob',1);
INSERT INTO "gold_answer" VALUES('g3','cy',0);
INSERT INTO "gold_answer" VALUES('g4','ann',0);
INSERT INTO "gold_answer" VALUES('g4','bob',1);
INSERT INTO "gold_answer" VALUES('g4','cy',0);
INSERT INTO "gold_answer" VALUES('g5','ann',0);
INSERT INTO "gold_answer" VALUES('g5','bob',1);
INSERT INTO "gold_answer" VALUES('g5','cy',1);
INSERT INTO "gold_answer" VALUES('g6','ann',0);
INSERT INTO "gold_answer" VALUES('g6','bob',0);
INSERT INTO "gold_answer" VALUES('g6','cy',0);
INSERT INTO "gold_answer" VALUES('g7','ann',1);
INSERT INTO "gold_answer" VALUES('g7','bob',1);
INSERT INTO "gold_answer" VALUES('g7','cy',1);
CREATE TABLE pair (
	task_id INTEGER NOT NULL, 
	worker_id INTEGER NOT NULL, 
	state INTEGER NOT NULL, 
	round INTEGER, 
	expires FLOAT, 
	label INTEGER, 
	place INTEGER, 
	PRIMARY KEY (task_id, worker_id), 
	FOREIGN KEY(task_id) REFERENCES task (id), 
	FOREIGN KEY(worker_id) REFERENCES worker (id)
);
INSERT INTO "pair" VALUES(1,1,3,NULL,NULL,0,1);
INSERT INTO "pair" VALUES(2,2,3,NULL,NULL,1,2);
INSERT INTO "pair" VALUES(3,3,3,NULL,NULL,0,3);
INSERT INTO "pair" VALUES(2,1,3,NULL,NULL,1,4);
INSERT INTO "pair" VALUES(1,2,2,NULL,1000000900.0,NULL,NULL);
CREATE TABLE planned (
	round INTEGER NOT NULL, 
	method TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	pairs INTEGER NOT NULL, 
	answers_before INTEGER NOT NULL, 
	expected_accuracy FLOAT NOT NULL, 
	bound FLOAT, 
	PRIMARY KEY (round)
);
CREATE TABLE skill (
	worker_id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	quality FLOAT NOT NULL, 
	gain FLOAT NOT NULL, 
	PRIMARY KEY (worker_id, task_id), 
	FOREIGN KEY(worker_id) REFERENCES worker (id), 
	FOREIGN KEY(task_id) REFERENCES task (id)
);
CREATE TABLE task (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	prior FLOAT, 
	min_workers INTEGER NOT NULL, 
	max_workers INTEGER NOT NULL, 
	closed INTEGER NOT NULL, 
	slots INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	label INTEGER NOT NULL, 
	confidence FLOAT NOT NULL, 
	uncertainty FLOAT NOT NULL, 
	wanted INTEGER NOT NULL, 
	needy INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT within_max_workers CHECK (answers <= slots AND slots <= max_workers), 
	UNIQUE (name)
);
INSERT INTO "task" VALUES(1,'t1',NULL,0,3,0,2,1,0,7.61538461538461497468e-01,2.94365561242361795102e-01,1,0);
INSERT INTO "task" VALUES(2,'t2',NULL,0,3,0,2,2,1,9.52086553323029383122e-01,2.13583118023180307254e-01,0,0);
INSERT INTO "task" VALUES(3,'t3',NULL,0,3,0,1,1,0,8.61538461538461475264e-01,3.45383758779133298588e-01,1,0);
CREATE TABLE worker (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	max_tasks INTEGER NOT NULL, 
	cost BIGINT NOT NULL, 
	team TEXT, 
	quality FLOAT, 
	slots INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT within_max_tasks CHECK (answers <= slots AND slots <= max_tasks), 
	UNIQUE (name)
);
INSERT INTO "worker" VALUES(1,'ann',2147483647,0,NULL,7.61538461538461497468e-01,2,2);
INSERT INTO "worker" VALUES(2,'bob',2147483647,0,NULL,8.61538461538461475264e-01,2,1);
INSERT INTO "worker" VALUES(3,'cy',2147483647,0,NULL,8.61538461538461475264e-01,1,1);
CREATE INDEX task_wanted ON task (uncertainty DESC, id) WHERE wanted = 1;
CREATE INDEX pair_of_worker ON pair (worker_id, state);
CREATE INDEX pair_leased ON pair (expires) WHERE state = 2;
COMMIT;
