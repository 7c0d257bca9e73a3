-- Claims and answers in one call each, for PostgreSQL (see functions.py).
-- They do nothing where they do not know their way: then `leases` and `turns` decide, which know all
-- rules.
--
-- Who changes the campaign by statements is alone in it: they hold the gate, which claims and
-- answers share. Of these, claims come one after the other; answers do so only for the moment in
-- which the row of the campaign counts them. So that no two wait for one another, all take what they
-- take in this order: the gate, the turn of claims, tasks, a worker, the campaign, the pair of an
-- answer. A pair that is there changes only with its task held.

-- Wait for one's turn to claim. Who queues for a lock is handed it while the processor is elsewhere,
-- so that all wait for one to be scheduled. So whoever runs takes the lock if it is free and looks
-- again soon if not; who had no luck for long queues.
-- Called by an assignment, and so is what it calls: PERFORM would run a query for it.
CREATE FUNCTION tvcs_turn_{NUMBER}() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..50 LOOP
        IF pg_try_advisory_xact_lock({TURN}) THEN
            RETURN '';
        END IF;
        EXIT WHEN pg_sleep(0.0003) IS NULL;  -- never
    END LOOP;
    RETURN pg_advisory_xact_lock({TURN})::text;
END $$;

-- What all answers are judged by.
CREATE FUNCTION tvcs_settings_{NUMBER}() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT {SETTINGS OF c} FROM campaign c);
END $$;

-- The pairs of a task, with what is known of their workers.
CREATE FUNCTION tvcs_pairs_{NUMBER}(of_task integer, is_per_pair boolean) RETURNS json
LANGUAGE plpgsql STABLE AS $$
DECLARE
    found json;
BEGIN
    IF is_per_pair THEN
        SELECT coalesce(json_agg(one), '[]') INTO found FROM (
            SELECT json_build_array({FIELDS OF p}, coalesce(s.quality, w.quality), w.habits) AS one
            FROM pair p JOIN worker w ON w.id = p.worker_id
            LEFT JOIN skill s ON s.worker_id = p.worker_id AND s.task_id = p.task_id
            WHERE p.task_id = of_task ORDER BY p.worker_id) AS these;
    ELSE
        SELECT coalesce(json_agg(one), '[]') INTO found FROM (
            SELECT json_build_array({FIELDS OF p}, w.quality, w.habits) AS one
            FROM pair p JOIN worker w ON w.id = p.worker_id
            WHERE p.task_id = of_task ORDER BY p.worker_id) AS these;
    END IF;
    RETURN found;
END $$;

-- What else an answer of a worker to a task is judged by, as of one moment. `version` is another one
-- after every change of the task or of a pair of it, since these write the row of the task too. How
-- many workers there are matters only where a label must add something.
CREATE FUNCTION tvcs_seen_{NUMBER}(called integer, of_task integer) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT json_build_array(called, {VERSION}, json_build_array({FIELDS OF t}),
            tvcs_pairs_{NUMBER}(of_task, c.per_pair = 1),
            CASE WHEN c.least_gain IS NOT NULL THEN {N_WORKERS} END)
        FROM campaign c LEFT JOIN task t ON t.id = of_task
    );
END $$;

-- The same of every task with a lease that is over, as a list.
CREATE FUNCTION tvcs_over_{NUMBER}(moment double precision) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(json_agg(tvcs_seen_{NUMBER}(NULL, t.id) ORDER BY t.id), '[]')
        FROM task t
        WHERE t.id IN (SELECT task_id FROM pair WHERE state = {LEASED} AND expires <= moment)
    );
END $$;

-- Free the slots of leases that are over, of every task whose leases and `version` are those from
-- which the changes were computed: `leases.free`.
CREATE FUNCTION tvcs_lapse_{NUMBER}(moment double precision, changes text, OUT n_freed integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_off text := set_config('synchronous_commit', 'off', true);
    alone text := pg_advisory_xact_lock({GATE})::text;
    one json;
    theirs integer[];
    was_full boolean := false;
BEGIN
    n_freed := 0;
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

-- Write an answer down, and what follows from it for its task, if this has the `version` from
-- which it was computed; `number` is its place among the campaign's, else none. What was answered
-- is on the disk in the end; nobody waits for that.
CREATE PROCEDURE tvcs_answer_{NUMBER}(
    at double precision, {ANSWER}, INOUT number integer
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    ready text := concat(
        set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock_shared({GATE}));
    written pg_lsn;
BEGIN
    {SETTLE};
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE worker SET answers = answers + 1 WHERE id = who;
    UPDATE campaign SET revision = revision + 1, answers = answers + 1
        RETURNING answers INTO number;
    {WRITE DOWN};
    COMMIT;
    written := pg_logical_emit_message(true, 'tvcs', '');
END $$;

-- Write an answer down likewise, if there is one, then lease a task to a worker: `leases.offer`.
-- `first` is `tasks.before_first` of a dependent model.
-- outcome: leased, renewed, none (no task is left); lapsed, unsure (ask `leases`).
-- `seen` is `tvcs_settings` and `tvcs_seen` of what was leased, of rows that are at hand here.
--
-- Beside a claim only answers come in. They decide nothing of it but its task: of that another
-- place (`ctid`) or writer (`xmin`) tells, and the claim looks again. (The place alone would not do:
-- not every release compares that again after a wait.)
--
-- An expression of PL/pgSQL is made ready anew in every transaction, which costs more than to
-- evaluate it: so what can be is computed by the queries.
CREATE PROCEDURE tvcs_next_{NUMBER}(
    at double precision, called text, first double precision, {ANSWER},
    INOUT number integer, INOUT outcome text, INOUT task_name text,
    INOUT until double precision, INOUT remains double precision, INOUT sureness double precision,
    INOUT seen text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    ready text := concat(
        set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock_shared({GATE}));
    come integer := (of_task IS NOT NULL)::integer;
    here record;  -- the campaign, and the worker who is called
    lease integer;
    it record;
    others record;
    most double precision;
    places integer;
    task_now json;
    version_now text;
    n_workers integer;
    waited text;
    written pg_lsn;
BEGIN
    IF NOT pg_try_advisory_xact_lock({TURN}) THEN
        waited := tvcs_turn_{NUMBER}();
    END IF;
    IF come = 1 THEN
        {SETTLE};
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    outcome := 'unsure';
    LOOP
        SELECT {SETTINGS OF c} AS settings, json_array_length(c.classes::json) AS n_classes,
            c.per_pair, c.gate, c.least_gain, c.best, c.dependence IS NOT NULL AS is_joint,
            coalesce(c.sure_at, c.target) AS sure_enough, at + c.lease_seconds AS until,
            w.id AS he, w.cost, w.team, w.quality,
            c.paused = 1 OR w.blocked = 1 OR w.slots >= w.max_tasks OR c.slots >= c.budget
                OR c.committed + w.cost > c.money
                OR c.per_pair = 0 AND (w.quality IS NULL OR w.quality < c.gate) AS is_held_up,
            coalesce(c.budget - c.slots <= c.missing, false) AS is_reserved,
            w.slots > w.answers + come AS is_busy,  -- has tasks, or had when this began
            EXISTS (SELECT FROM pair WHERE state = {LEASED} AND expires <= at
                AND (task_id IS DISTINCT FROM of_task OR worker_id <> who)) AS is_late
            INTO here FROM campaign c JOIN worker w ON w.name = called;
        IF here.is_late THEN  -- who is refused frees no leases
            outcome := 'lapsed';
            EXIT;
        END IF;
        IF here.is_busy THEN
            lease := (SELECT min(task_id) FROM pair WHERE worker_id = here.he AND state = {LEASED}
                AND task_id IS DISTINCT FROM of_task);
            IF lease IS NOT NULL THEN
                outcome := 'renewed';
                EXIT;
            END IF;
        END IF;
        EXIT WHEN here.he IS NULL OR here.is_held_up;
        IF here.per_pair = 1 THEN
            SELECT {FOUND WITH s.quality}
                FROM task t
                JOIN skill s ON s.task_id = t.id AND s.worker_id = here.he
                    AND s.quality >= here.gate
                {WHERE FREE} AND (here.team IS NULL OR NOT {MATE OF here.team ON t.id})
                ORDER BY t.uncertainty * s.gain DESC, t.id LIMIT 1;
        ELSIF here.team IS NOT NULL THEN
            SELECT {FOUND WITH here.quality}
                FROM task t
                {WHERE FREE} AND NOT {MATE OF here.team ON t.id}
                ORDER BY t.uncertainty DESC, t.id LIMIT 1;
        ELSE
            SELECT {FOUND WITH here.quality}
                FROM task t
                {WHERE FREE}
                ORDER BY t.uncertainty DESC, t.id LIMIT 1;
        END IF;
        IF it.id IS NULL THEN  -- `leases` asks whether anybody may meet the minimums
            outcome := CASE WHEN here.is_reserved THEN 'unsure' ELSE 'none' END;
            EXIT;
        END IF;
        IF here.least_gain IS NOT NULL AND it.needy = 0 THEN  -- `leases._is_worth`, where plain
            SELECT count(skill_there) AS number, min(skill_there) AS low,
                max(skill_there) AS high INTO others
                FROM (
                    SELECT CASE WHEN here.per_pair = 0 THEN w.quality ELSE (
                        SELECT s.quality FROM skill s
                            WHERE s.worker_id = w.id AND s.task_id = it.id) END AS skill_there
                    FROM worker w
                    WHERE w.slots < w.max_tasks AND coalesce(w.blocked, 0) = 0
                        AND NOT EXISTS (
                            SELECT FROM pair p WHERE p.task_id = it.id AND p.worker_id = w.id
                                AND p.state <> {LAPSED})
                        AND (w.team IS NULL OR NOT {MATE OF w.team ON it.id})
                ) AS those
                WHERE skill_there >= here.gate;
            most := others.high;
            IF here.n_classes = 2 THEN
                most := greatest(most, 1 - others.low);
            END IF;
            places := it.max_workers - it.answers;
            EXIT WHEN most < coalesce(here.best, 0)
                OR least(places, others.number + it.slots - it.answers)
                    < least(places, {LOOK_AHEAD});
        END IF;
        EXIT WHEN it.remains IS NULL;
        UPDATE task t SET slots = slots + 1, needy = (slots + 1 < min_workers)::integer,
            uncertainty = it.remains * least(
                1::double precision,
                2 * sqrt(it.known * it.wrong) + (here.n_classes - 2) * it.wrong),
            wanted = (slots + 1 < max_workers AND closed = 0 AND (slots + 1 < min_workers
                OR confidence < here.sure_enough))::integer
            WHERE t.ctid = it.spot AND t.xmin = it.writer
            RETURNING json_build_array({FIELDS OF t}), {VERSION} INTO task_now, version_now;
        IF FOUND THEN  -- else it was answered meanwhile
            outcome := 'leased';
            EXIT;
        END IF;
    END LOOP;
    IF outcome = 'leased' THEN
        IF it.before IS NULL THEN
            INSERT INTO pair (task_id, worker_id, state, expires, leased_at)
                VALUES (it.id, here.he, {LEASED}, here.until, at);
        ELSE
            UPDATE pair SET state = {LEASED}, expires = here.until, round = NULL, leased_at = at
                WHERE task_id = it.id AND worker_id = here.he;
        END IF;
        UPDATE worker SET slots = slots + 1, answers = answers + come WHERE id = here.he;
        IF here.least_gain IS NOT NULL THEN
            n_workers := {N_WORKERS};
        END IF;
        seen := concat(here.settings, E'\n', json_build_array(here.he, version_now, task_now,
            tvcs_pairs_{NUMBER}(it.id, here.per_pair = 1), n_workers));
        UPDATE campaign SET revision = revision + 1, slots = slots + 1, answers = answers + come,
            committed = committed + here.cost,
            missing = missing - (it.slots < it.min_workers)::integer
            RETURNING answers, it.name, here.until, it.remains, it.confidence
            INTO number, task_name, until, remains, sureness;
    ELSIF come = 1 OR outcome = 'renewed' THEN
        IF come = 1 THEN
            UPDATE worker SET answers = answers + 1 WHERE id = who;
        END IF;
        UPDATE campaign SET revision = revision + 1, answers = answers + come
            RETURNING answers INTO number;
    END IF;
    IF come = 1 THEN
        {WRITE DOWN};
    END IF;
    IF outcome = 'renewed' THEN
        until := here.until;
        UPDATE pair SET expires = until
            WHERE task_id = lease AND worker_id = here.he AND state = {LEASED};
        IF FOUND THEN
            task_name := (SELECT name FROM task WHERE id = lease);
            seen := concat(tvcs_settings_{NUMBER}(), E'\n',
                tvcs_seen_{NUMBER}(here.he, lease));
        ELSE  -- it was answered meanwhile
            outcome := 'unsure';
        END IF;
    END IF;
    IF come = 1 THEN
        COMMIT;
        written := pg_logical_emit_message(true, 'tvcs', '');
    END IF;
END $$;
