-- Claims and answers in one call each, for PostgreSQL (see functions.py).
-- Every function takes the lock on the campaign's row first, as every change does, and does nothing
-- where it does not know its way: then `leases` and `turns` decide, which know all rules.

-- Wait for one's turn. Who waits for a row that others change waits again at every new version, and
-- who queues for a lock is handed it while the processor is elsewhere, so that all wait for one to be
-- scheduled. So whoever runs takes the lock if it is free and looks again soon if not; who had no
-- luck for long queues.
-- Called by an assignment: PERFORM would run a query for it.
CREATE FUNCTION tvcs_turn_{NUMBER}() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    key bigint := 'campaign'::regclass::oid::bigint;
    is_off text := set_config('synchronous_commit', 'off', true);
BEGIN
    FOR i IN 1..50 LOOP
        IF pg_try_advisory_xact_lock(key) THEN
            RETURN is_off;
        END IF;
        PERFORM pg_sleep(0.0003);
    END LOOP;
    PERFORM pg_advisory_xact_lock(key);
    RETURN is_off;
END $$;

-- The pairs of a task, with what is known of their workers.
CREATE FUNCTION tvcs_pairs_{NUMBER}(of_task integer) RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
    found json;
BEGIN
    SELECT coalesce(json_agg(these), '[]') INTO found FROM (
        SELECT p.worker_id, p.state, p.label, p.leased_at, p.expires,
            coalesce(s.quality, w.quality) AS quality, w.habits
        FROM pair p JOIN worker w ON w.id = p.worker_id
        LEFT JOIN skill s ON s.worker_id = p.worker_id AND s.task_id = p.task_id
        WHERE p.task_id = of_task ORDER BY p.worker_id) AS these;
    RETURN found;
END $$;

-- All that an answer of a worker to a task is judged by, as of one moment. `version` is another one
-- after every change of the task or of a pair of it, since these write the row of the task too.
CREATE FUNCTION tvcs_seen_{NUMBER}(called integer, of_task integer) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_object('who', called, 'settings',
            json_build_object({SETTINGS OF c}, 'n_workers', {N_WORKERS}), 'task', row_to_json(t),
            'version', {VERSION}, 'pairs', tvcs_pairs_{NUMBER}(of_task))
        FROM campaign c LEFT JOIN task t ON t.id = of_task
    );
END $$;

-- Lease a task to a worker: `leases.offer`. `first` is `tasks.before_first` of a dependent model;
-- so many answers of the worker just came, and are counted with the lease.
-- outcome: leased, renewed, none (no task is left); lapsed, unsure (ask `leases`; nothing is done).
-- `seen` is `tvcs_seen` of what was leased, of rows that are at hand here.
CREATE FUNCTION tvcs_claim_{NUMBER}(
    called text, moment double precision, first double precision, come integer,
    OUT outcome text, OUT task_name text, OUT until double precision,
    OUT remains double precision, OUT sureness double precision, OUT seen text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_off text := tvcs_turn_{NUMBER}();
    here record;
    he record;
    it record;
    quality_there double precision;
    wrong double precision;
    is_reserved boolean;
    slots_then integer;
    is_short boolean;
    others record;
    most double precision;
    places integer;
    task_now json;
    version_now text;
BEGIN
    SELECT c.*, coalesce(sure_at, target) AS enough, dependence IS NOT NULL AS is_dependent,
        json_array_length(classes::json) AS n_classes
        INTO here FROM campaign c FOR NO KEY UPDATE;
    -- `n_workers` not with the row above: beside a row that was waited for, what else a statement
    -- reads is as of before the wait.
    SELECT w.id, w.max_tasks, w.cost, w.team, w.quality, w.slots, w.blocked,
        t.id AS lease, t.name AS lease_name, {N_WORKERS} AS n_workers,
        EXISTS (SELECT FROM pair WHERE state = {LEASED} AND expires <= moment) AS is_late
        INTO he FROM worker w
        LEFT JOIN pair p ON p.worker_id = w.id AND p.state = {LEASED}
        LEFT JOIN task t ON t.id = p.task_id
        WHERE w.name = called ORDER BY p.task_id LIMIT 1;
    IF he.id IS NULL THEN  -- who is refused frees no leases either
        outcome := 'unsure';
        RETURN;
    END IF;
    IF he.is_late THEN
        outcome := 'lapsed';
        RETURN;
    END IF;
    until := moment + here.lease_seconds;
    IF he.lease IS NOT NULL THEN
        UPDATE pair SET expires = until WHERE task_id = he.lease AND worker_id = he.id;
        outcome := 'renewed';
        task_name := he.lease_name;
        seen := tvcs_seen_{NUMBER}(he.id, he.lease);
        RETURN;
    END IF;
    IF here.paused = 1 OR he.blocked = 1 OR he.slots >= he.max_tasks
        OR here.slots >= here.budget OR here.committed + he.cost > here.money
        OR here.per_pair = 0 AND (he.quality IS NULL OR he.quality < here.gate)
    THEN
        outcome := 'unsure';
        RETURN;
    END IF;
    is_reserved := coalesce(here.budget - here.slots <= here.missing, false);
    IF here.per_pair = 0 THEN
        SELECT t.*, own.state AS before, he.quality AS known INTO it FROM task t
            LEFT JOIN pair own ON own.task_id = t.id AND own.worker_id = he.id
            WHERE t.wanted = 1 AND (own.state IS NULL OR own.state = {LAPSED})
                AND (NOT is_reserved OR t.needy = 1)
                AND (he.team IS NULL OR NOT EXISTS (
                    SELECT FROM pair theirs JOIN worker mate ON mate.id = theirs.worker_id
                    WHERE theirs.task_id = t.id AND theirs.state > {LAPSED}
                        AND mate.team = he.team))
            ORDER BY t.uncertainty DESC, t.id LIMIT 1;
    ELSE
        SELECT t.*, own.state AS before, s.quality AS known INTO it FROM task t
            JOIN skill s ON s.task_id = t.id AND s.worker_id = he.id AND s.quality >= here.gate
            LEFT JOIN pair own ON own.task_id = t.id AND own.worker_id = he.id
            WHERE t.wanted = 1 AND (own.state IS NULL OR own.state = {LAPSED})
                AND (NOT is_reserved OR t.needy = 1)
                AND (he.team IS NULL OR NOT EXISTS (
                    SELECT FROM pair theirs JOIN worker mate ON mate.id = theirs.worker_id
                    WHERE theirs.task_id = t.id AND theirs.state > {LAPSED}
                        AND mate.team = he.team))
            ORDER BY t.uncertainty * s.gain DESC, t.id LIMIT 1;
    END IF;
    IF it.id IS NULL THEN  -- `leases` asks whether anybody may meet the minimums
        outcome := CASE WHEN is_reserved THEN 'unsure' ELSE 'none' END;
        RETURN;
    END IF;
    IF here.least_gain IS NOT NULL AND it.needy = 0 THEN  -- `leases._is_worth`, where that is plain
        SELECT count(skill_there) AS number, min(skill_there) AS low, max(skill_there) AS high
            INTO others
            FROM (
                SELECT CASE WHEN here.per_pair = 0 THEN w.quality ELSE (
                    SELECT s.quality FROM skill s
                        WHERE s.worker_id = w.id AND s.task_id = it.id) END AS skill_there
                FROM worker w
                WHERE w.slots < w.max_tasks AND coalesce(w.blocked, 0) = 0
                    AND NOT EXISTS (
                        SELECT FROM pair p WHERE p.task_id = it.id AND p.worker_id = w.id
                            AND p.state <> {LAPSED})
                    AND (w.team IS NULL OR NOT EXISTS (
                        SELECT FROM pair theirs JOIN worker mate ON mate.id = theirs.worker_id
                        WHERE theirs.task_id = it.id AND theirs.state > {LAPSED}
                            AND mate.team = w.team))
            ) AS those
            WHERE skill_there >= here.gate;
        most := others.high;
        IF here.n_classes = 2 THEN
            most := greatest(most, 1 - others.low);
        END IF;
        places := it.max_workers - it.answers;
        IF most < coalesce(here.best, 0)
            OR least(places, others.number + it.slots - it.answers) < least(places, {LOOK_AHEAD})
        THEN
            outcome := 'unsure';
            RETURN;
        END IF;
    END IF;
    remains := it.uncertainty;
    IF remains < 1e-100 THEN  -- PostgreSQL refuses products that are too small for a number
        outcome := 'unsure';
        RETURN;
    END IF;
    IF it.slots = 0 AND here.is_dependent THEN
        remains := it.uncertainty / first;
    END IF;
    quality_there := it.known;
    wrong := (1 - quality_there) / (here.n_classes - 1);
    slots_then := it.slots + 1;
    is_short := slots_then < it.min_workers;
    IF it.before IS NULL THEN
        INSERT INTO pair (task_id, worker_id, state, expires, leased_at)
            VALUES (it.id, he.id, {LEASED}, until, moment);
    ELSE
        UPDATE pair SET state = {LEASED}, expires = until, round = NULL, leased_at = moment
            WHERE task_id = it.id AND worker_id = he.id;
    END IF;
    UPDATE task t SET slots = slots_then, needy = is_short::integer,
        uncertainty = remains * least(
            1::double precision,
            2 * sqrt(quality_there * wrong) + (here.n_classes - 2) * wrong),
        wanted = (slots_then < max_workers AND closed = 0 AND (is_short
            OR confidence < here.enough))::integer
        WHERE id = it.id RETURNING row_to_json(t), {VERSION} INTO task_now, version_now;
    UPDATE worker SET slots = slots + 1, answers = answers + come WHERE id = he.id;
    UPDATE campaign SET revision = revision + 1, slots = slots + 1, answers = answers + come,
        committed = committed + he.cost,
        missing = missing + greatest(0, it.min_workers - slots_then)
            - greatest(0, it.min_workers - it.slots);
    outcome := 'leased';
    task_name := it.name;
    sureness := it.confidence;
    seen := json_build_object('who', he.id, 'settings',
        json_build_object({SETTINGS OF here}, 'n_workers', he.n_workers), 'task', task_now,
        'version', version_now, 'pairs', tvcs_pairs_{NUMBER}(it.id));
END $$;

-- The same of every task with a lease that is over, as a list.
CREATE FUNCTION tvcs_over_{NUMBER}(moment double precision) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(tvcs_seen_{NUMBER}(NULL, t.id)::json ORDER BY t.id), '[]')::text
    FROM task t
    WHERE t.id IN (SELECT task_id FROM pair WHERE state = {LEASED} AND expires <= moment)
$$;

-- Free the slots of leases that are over, of every task whose leases and `version` are those from
-- which the changes were computed: `leases.free`.
CREATE FUNCTION tvcs_lapse_{NUMBER}(moment double precision, changes text, OUT n_freed integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_off text := tvcs_turn_{NUMBER}();
    one json;
    theirs integer[];
    was_full boolean := false;
BEGIN
    n_freed := 0;
    PERFORM FROM campaign FOR NO KEY UPDATE;
    FOR one IN SELECT value FROM json_array_elements(changes::json) LOOP
        theirs := ARRAY(SELECT worker_id FROM pair WHERE task_id = (one->>'of_task')::integer
            AND state = {LEASED} AND expires <= moment ORDER BY worker_id);
        CONTINUE WHEN theirs
            <> ARRAY(SELECT json_array_elements_text(one->'workers')::integer);
        UPDATE task t SET slots = (one->>'slots')::integer, answers = (one->>'answers')::integer,
            label = (one->>'label')::integer,
            confidence = (one->>'confidence')::double precision,
            uncertainty = (one->>'uncertainty')::double precision,
            wanted = (one->>'wanted')::integer, needy = (one->>'needy')::integer
            WHERE id = (one->>'of_task')::integer
                AND {VERSION} = one->>'version';
        CONTINUE WHEN NOT FOUND;
        UPDATE pair SET state = {LAPSED}, expires = NULL
            WHERE task_id = (one->>'of_task')::integer AND worker_id = ANY(theirs);
        was_full := was_full
            OR EXISTS (SELECT FROM worker WHERE id = ANY(theirs) AND slots >= max_tasks);
        UPDATE worker SET slots = slots - 1 WHERE id = ANY(theirs);
        UPDATE campaign SET revision = revision + 1, slots = slots - cardinality(theirs),
            committed = committed - (SELECT sum(cost) FROM worker WHERE id = ANY(theirs)),
            missing = missing + (one->>'missing')::integer;
        n_freed := n_freed + cardinality(theirs);
    END LOOP;
    IF was_full AND (SELECT least_gain IS NOT NULL FROM campaign) THEN
        UPDATE task SET wanted = 1 WHERE wanted = {ASIDE};
    END IF;
END $$;

-- `tvcs_claim` as a change of its own.
CREATE PROCEDURE tvcs_next_{NUMBER}(
    called text, moment double precision, first double precision,
    INOUT outcome text, INOUT task_name text, INOUT until double precision,
    INOUT remains double precision, INOUT sureness double precision, INOUT seen text
) LANGUAGE plpgsql AS $$
DECLARE
    got record;
BEGIN
    got := tvcs_claim_{NUMBER}(called, moment, first, 0);
    outcome := got.outcome;
    task_name := got.task_name;
    until := got.until;
    remains := got.remains;
    sureness := got.sureness;
    seen := got.seen;
END $$;

-- Write an answer down, and what follows from it for its task, if this has the `version` from which
-- it was computed; `number` is its place among the campaign's. Then lease the worker the next task if
-- they are `called`. What was done is on the disk in the end; nobody waits for that.
CREATE PROCEDURE tvcs_answer_{NUMBER}(
    of_task integer, who integer, version text, given integer, at double precision,
    took double precision, n_slots integer, n_answers integer, likeliest integer,
    sure double precision, rest double precision, is_wanted integer, is_needy integer,
    called text, first double precision,
    INOUT is_done boolean, INOUT number integer, INOUT outcome text, INOUT task_name text,
    INOUT until double precision, INOUT remains double precision, INOUT sureness double precision,
    INOUT seen text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_off text := tvcs_turn_{NUMBER}();
    got record;
    written pg_lsn;
BEGIN
    SELECT answers + 1 INTO number FROM campaign FOR NO KEY UPDATE;
    UPDATE task t SET slots = n_slots, answers = n_answers, label = likeliest,
        confidence = sure, uncertainty = rest, wanted = is_wanted, needy = is_needy
        WHERE id = of_task AND {VERSION} = version;
    is_done := FOUND;
    IF NOT is_done THEN
        ROLLBACK;
        RETURN;
    END IF;
    UPDATE pair SET state = {ANSWERED}, label = given, place = number, answered_at = at,
        seconds = took, expires = NULL WHERE task_id = of_task AND worker_id = who;
    IF called IS NOT NULL THEN
        got := tvcs_claim_{NUMBER}(called, at, first, 1);
        outcome := got.outcome;
        task_name := got.task_name;
        until := got.until;
        remains := got.remains;
        sureness := got.sureness;
        seen := got.seen;
    END IF;
    IF outcome IS DISTINCT FROM 'leased' THEN
        UPDATE worker SET answers = answers + 1 WHERE id = who;
        UPDATE campaign SET revision = revision + 1, answers = answers + 1;
    END IF;
    COMMIT;
    written := pg_logical_emit_message(true, 'tvcs', '');
END $$;
