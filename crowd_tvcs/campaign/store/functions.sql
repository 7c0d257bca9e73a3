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
DECLARE
    key bigint := {GATE} + (1::bigint << 32);
BEGIN
    FOR i IN 1..50 LOOP
        IF pg_try_advisory_xact_lock(key) THEN
            RETURN '';
        END IF;
        EXIT WHEN pg_sleep(0.0003) IS NULL;  -- never
    END LOOP;
    RETURN pg_advisory_xact_lock(key)::text;
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

-- The same of every task with a lease that is over, as a list.
CREATE FUNCTION tvcs_over_{NUMBER}(moment double precision) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(json_agg(tvcs_seen_{NUMBER}(NULL, t.id)::json ORDER BY t.id), '[]')
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
-- which it was computed; `number` is its place among the campaign's. Then lease a task to a worker
-- if one is `called`: `leases.offer`. Without a task it is a claim alone. `first` is
-- `tasks.before_first` of a dependent model. What was answered is on the disk in the end; nobody
-- waits for that.
-- outcome: leased, renewed, none (no task is left); lapsed, unsure (ask `leases`).
-- `seen` is `tvcs_seen` of what was leased, of rows that are at hand here.
--
-- Beside a claim only answers come in. They decide nothing of it but its task: of that another
-- place (`ctid`) or writer (`xmin`) tells, and the claim looks again. (The place alone would not do:
-- not every release compares that again after a wait.)
CREATE PROCEDURE tvcs_answer_{NUMBER}(
    at double precision, called text, first double precision,
    of_task integer, who integer, version text, given integer, took double precision,
    n_slots integer, n_answers integer, likeliest integer, sure double precision,
    rest double precision, is_wanted integer, is_needy integer,
    INOUT is_done boolean, INOUT number integer, INOUT outcome text, INOUT task_name text,
    INOUT until double precision, INOUT remains double precision, INOUT sureness double precision,
    INOUT seen text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_off text := set_config('synchronous_commit', 'off', true);
    shared text := pg_advisory_xact_lock_shared({GATE})::text;
    come integer := (of_task IS NOT NULL)::integer;
    here record;  -- the campaign, and the worker who is called
    it record;
    wrong double precision;
    is_reserved boolean;
    slots_then integer;
    is_short boolean;
    others record;
    most double precision;
    places integer;
    task_now json;
    version_now text;
    waited text;
    written pg_lsn;
BEGIN
    IF called IS NOT NULL THEN
        waited := tvcs_turn_{NUMBER}();
    END IF;
    IF come = 1 THEN
        UPDATE task t SET slots = n_slots, answers = n_answers, label = likeliest,
            confidence = sure, uncertainty = rest, wanted = is_wanted, needy = is_needy
            WHERE t.ctid = split_part(version, ' ', 2)::tid AND id = of_task
                AND {VERSION} = version;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    LOOP
        <<claim>> BEGIN
            EXIT claim WHEN called IS NULL;
            outcome := 'unsure';
            task_name := NULL;
            SELECT c.*, json_array_length(classes::json) AS n_classes,
                w.id AS he, w.max_tasks, w.cost, w.team, w.quality,
                w.slots AS his_slots, w.blocked, {N_WORKERS} AS n_workers,
                (SELECT min(task_id) FROM pair WHERE worker_id = w.id AND state = {LEASED}
                    AND task_id IS DISTINCT FROM of_task) AS lease,
                EXISTS (SELECT FROM pair WHERE state = {LEASED} AND expires <= at
                    AND (task_id IS DISTINCT FROM of_task OR worker_id <> who)) AS is_late
                INTO here FROM campaign c JOIN worker w ON w.name = called;
            EXIT claim WHEN here.he IS NULL;  -- who is refused frees no leases either
            IF here.is_late THEN
                outcome := 'lapsed';
                EXIT claim;
            END IF;
            until := at + here.lease_seconds;
            IF here.lease IS NOT NULL THEN
                outcome := 'renewed';
                task_name := (SELECT name FROM task WHERE id = here.lease);
                EXIT claim;
            END IF;
            EXIT claim WHEN here.paused = 1 OR here.blocked = 1 OR here.his_slots >= here.max_tasks
                OR here.slots >= here.budget OR here.committed + here.cost > here.money
                OR here.per_pair = 0 AND (here.quality IS NULL OR here.quality < here.gate);
            is_reserved := coalesce(here.budget - here.slots <= here.missing, false);
            IF here.per_pair = 0 THEN
                SELECT t.*, t.ctid AS spot, t.xmin AS writer, own.state AS before, here.quality AS known INTO it
                    FROM task t
                    LEFT JOIN pair own ON own.task_id = t.id AND own.worker_id = here.he
                    WHERE t.wanted = 1 AND (own.state IS NULL OR own.state = {LAPSED})
                        AND (NOT is_reserved OR t.needy = 1)
                        AND (here.team IS NULL OR NOT {MATE OF here.team ON t.id})
                    ORDER BY t.uncertainty DESC, t.id LIMIT 1;
            ELSE
                SELECT t.*, t.ctid AS spot, t.xmin AS writer, own.state AS before, s.quality AS known INTO it
                    FROM task t
                    JOIN skill s ON s.task_id = t.id AND s.worker_id = here.he
                        AND s.quality >= here.gate
                    LEFT JOIN pair own ON own.task_id = t.id AND own.worker_id = here.he
                    WHERE t.wanted = 1 AND (own.state IS NULL OR own.state = {LAPSED})
                        AND (NOT is_reserved OR t.needy = 1)
                        AND (here.team IS NULL OR NOT {MATE OF here.team ON t.id})
                    ORDER BY t.uncertainty * s.gain DESC, t.id LIMIT 1;
            END IF;
            IF it.id IS NULL THEN  -- `leases` asks whether anybody may meet the minimums
                outcome := CASE WHEN is_reserved THEN 'unsure' ELSE 'none' END;
                EXIT claim;
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
                EXIT claim WHEN most < coalesce(here.best, 0)
                    OR least(places, others.number + it.slots - it.answers)
                        < least(places, {LOOK_AHEAD});
            END IF;
            remains := it.uncertainty;
            -- PostgreSQL refuses products that are too small for a number.
            EXIT claim WHEN remains < 1e-100;
            IF it.slots = 0 AND here.dependence IS NOT NULL THEN
                remains := it.uncertainty / first;
            END IF;
            wrong := (1 - it.known) / (here.n_classes - 1);
            slots_then := it.slots + 1;
            is_short := slots_then < it.min_workers;
            outcome := 'leased';
            task_name := it.name;
            sureness := it.confidence;
        END claim;

        EXIT WHEN outcome IS DISTINCT FROM 'leased';
        UPDATE task t SET slots = slots_then, needy = is_short::integer,
            uncertainty = remains * least(
                1::double precision,
                2 * sqrt(it.known * wrong) + (here.n_classes - 2) * wrong),
            wanted = (slots_then < max_workers AND closed = 0 AND (is_short
                OR confidence < coalesce(here.sure_at, here.target)))::integer
            WHERE t.ctid = it.spot AND t.xmin = it.writer
            RETURNING row_to_json(t), {VERSION} INTO task_now, version_now;
        EXIT WHEN FOUND;  -- else it was answered meanwhile
    END LOOP;
    IF outcome = 'leased' THEN
        IF it.before IS NULL THEN
            INSERT INTO pair (task_id, worker_id, state, expires, leased_at)
                VALUES (it.id, here.he, {LEASED}, until, at);
        ELSE
            UPDATE pair SET state = {LEASED}, expires = until, round = NULL, leased_at = at
                WHERE task_id = it.id AND worker_id = here.he;
        END IF;
        UPDATE worker SET slots = slots + 1, answers = answers + come WHERE id = here.he;
        seen := json_build_object('who', here.he, 'settings',
            json_build_object({SETTINGS OF here}, 'n_workers', here.n_workers), 'task', task_now,
            'version', version_now, 'pairs', tvcs_pairs_{NUMBER}(it.id));
        UPDATE campaign SET revision = revision + 1, slots = slots + 1, answers = answers + come,
            committed = committed + here.cost,
            missing = missing + greatest(0, it.min_workers - slots_then)
                - greatest(0, it.min_workers - it.slots)
            RETURNING answers INTO number;
    ELSIF come = 1 OR outcome = 'renewed' THEN
        IF come = 1 THEN
            UPDATE worker SET answers = answers + 1 WHERE id = who;
        END IF;
        UPDATE campaign SET revision = revision + 1, answers = answers + come
            RETURNING answers INTO number;
    END IF;
    IF come = 1 THEN
        is_done := true;
        UPDATE pair SET state = {ANSWERED}, label = given, place = number, answered_at = at,
            seconds = took, expires = NULL WHERE task_id = of_task AND worker_id = who;
    END IF;
    IF outcome = 'renewed' THEN
        UPDATE pair SET expires = until
            WHERE task_id = here.lease AND worker_id = here.he AND state = {LEASED};
        IF FOUND THEN
            seen := tvcs_seen_{NUMBER}(here.he, here.lease);
        ELSE  -- it was answered meanwhile
            outcome := 'unsure';
        END IF;
    END IF;
    IF come = 1 THEN
        COMMIT;
        written := pg_logical_emit_message(true, 'tvcs', '');
    END IF;
END $$;
