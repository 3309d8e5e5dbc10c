import { BODY, chain, entry, FINGERPRINT, HALT, IS_CLEAN } from './0006-ledger-rules.js';
import { RULES, verdictOf, type OneMove, type OneMoveKind, type Refusal } from './0014-one-move.js';

/**
 * A command in a call of its own, done hopefully: it supposes that the command is clean, that its key was never used, and
 * that nothing refuses it. Then two statements are enough. The first moves the ledger row: it locks it, asks what the row
 * can answer, and writes, all at once. The second writes reservation and journal and asks the rest; what it reads is
 * newer than the lock. There are so few because Postgres prepares each statement and each expression anew in every
 * transaction, which costs more than to carry it out.
 *
 * Where hope fails, all is undone, and a batch of this one command applies it or says why not.
 */
export function singleCommand(kind: OneMoveKind): string {
  const { args, optional, isForTenants } = COMMANDS[kind];
  const declared = [
    ...args.map((arg) => `p_${arg} ${FIELDS[arg].type}`),
    ...optional.map((arg) => `p_${arg} ${FIELDS[arg].type} default null`),
  ];
  return `
    create or replace function fn_ledger_${kind}(p_profile_id uuid, p_key text, ${declared.join(', ')})
    returns public.ledger_verdict
    language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
    -- One plan, whatever the tables hold when it is made: it finds its rows through an index.
    set plan_cache_mode = force_generic_plan set enable_seqscan = off
    as $$
    declare
      v_now constant timestamptz := clock_timestamp();
      v_fingerprint constant integer := ${bind(FINGERPRINT, kind)};
      v_sequence bigint;
      v_hash bytea;
      v_amount numeric;
      ${keptBy(kind)
        .map(({ variable, type }) => `${variable} ${type};`)
        .join('\n')}
    begin
      ${isForTenants ? FOREIGN_IS_UNKNOWN : ''}
      begin
        ${bind(moveLedger(kind), kind)};
        if found then
          ${bind(afterwards(writeDown(kind)), kind)};
          if found then return row (1, 'applied', v_sequence, null)::public.ledger_verdict; end if;
          raise sqlstate 'FLT01' using message = 'A hopeful command meets a refusal.';
        end if;
      -- A reservation that was read before the wait can lead to a row that a policy forbids.
      exception when unique_violation or insufficient_privilege or sqlstate 'FLT01' then null;
      end;
      return (select v from public.fn_ledger_apply_batch(
        jsonb_build_array(jsonb_build_object('kind', '${kind}', ${asJson(kind)}))) v);
    end $$;
  `;
}

/** The ledger row: locked, asked, moved and chained. A breach is left to the batch, which knows what to do about it. */
function moveLedger(kind: OneMoveKind): string {
  const { ledger, move, trade } = RULES[kind];
  const joins = trade && !isNew(kind);
  const kept = keptBy(kind);
  return `
    update public.capital_ledger l
       set ${Object.entries(ledger)
         .map(([column, value]) => `${column} = ${value}`)
         .join(', ')},
           last_sequence = l.last_sequence + 1,
           last_hash = ${link(move)}
      ${joins ? 'from public.reservations t' : ''}
     where l.profile_id = c.profile_id and l.breached_at is null and ${IS_CLEAN.replaceAll('c.happened_at', 'p_happened_at')}
       ${joins ? 'and t.profile_id = c.profile_id and t.trade_id = c.trade_id' : ''}
       and (${verdictOf(askedOf(kind).row)}) is null
    returning l.last_sequence, l.last_hash, ${[move.amount, ...kept.map(({ value }) => value)].join(', ')}
         into ${['v_sequence', 'v_hash', 'v_amount', ...kept.map(({ variable }) => variable)].join(', ')}`;
}

/** The hash that `chain` makes, of one flat list: each value of a list costs. */
function link(move: OneMove['move']): string {
  const place = [move.part, move.source, move.target];
  return chain(move)
    .replace('c.body', BODY.slice("concat_ws('|', ".length, -1))
    .replace(/,\s*/g, ', ')
    .replace(place.join(', '), `'${place.join('|').replaceAll("'", '')}'`)
    .replaceAll('l.last_sequence', 'l.last_sequence + 1');
}

/** Reservation and journal. A reservation that changed while the ledger row was waited for is not found. */
function writeDown(kind: OneMoveKind): string {
  const { move, trade } = RULES[kind];
  const journal = `insert into public.ledger_entries select ${entry({ ...move, amount: 'v_amount' })}`;
  if (!trade) return journal;
  const written = isNew(kind)
    ? `insert into public.reservations (profile_id, trade_id, ${Object.keys(trade).join(', ')}, changed_sequence)
       select c.profile_id, c.trade_id, ${Object.values(trade).join(', ')}, l.last_sequence
         from (select 1) one left join public.profile_limits m on m.profile_id = c.profile_id
        where (${verdictOf(askedOf(kind).rest).replaceAll('v_halt', `(${HALT})`)}) is null`
    : `update public.reservations t
          set ${Object.entries(trade)
            .map(([column, value]) => `${column} = ${value}`)
            .join(', ')},
              changed_sequence = l.last_sequence
        where t.profile_id = c.profile_id and t.trade_id = c.trade_id
          and ${keptBy(kind)
            .map(({ value, variable }) => `${value} = ${variable}`)
            .join(' and ')}`;
  return `with trade as (${written} returning 1) ${journal} from trade`;
}

/** What the row itself can answer is asked of it under its lock; what other tables say is read after it. */
function askedOf(kind: OneMoveKind): { row: Refusal[]; rest: Refusal[] } {
  const { refusals } = RULES[kind];
  // Whether a new trade is new, its unique index knows.
  const asked = isNew(kind) ? refusals.filter(({ when }) => !when.includes('t.')) : refusals;
  const isOfOthers = ({ when }: Refusal): boolean => /\b(m\.|v_halt|public\.)/.test(when);
  return { row: asked.filter((refusal) => !isOfOthers(refusal)), rest: asked.filter(isOfOthers) };
}

const isNew = (kind: OneMoveKind): boolean => kind === 'reserve';

interface Kept {
  readonly variable: string;
  readonly type: string;
  readonly value: string;
}

/** What the second statement must know of the rows as the first one found them. */
function keptBy(kind: OneMoveKind): Kept[] {
  const { ledger } = RULES[kind];
  const texts = askedOf(kind)
    .rest.map(({ when }) => when)
    .join(' ');
  const ofLedger = columnsOf('l', texts).map((column) => ({
    variable: `v_l_${column}`,
    type: `public.capital_ledger.${column}%type`,
    value: `old.${column}`,
  }));
  const ofTrade = columnsOf('t', Object.values(ledger).join(' ')).map((column) => ({
    variable: `v_t_${column}`,
    type: `public.reservations.${column}%type`,
    value: `t.${column}`,
  }));
  return [...ofLedger, ...ofTrade];
}

function columnsOf(row: string, text: string): string[] {
  return [...new Set([...text.matchAll(new RegExp(`\\b${row}\\.([a-z_]+)`, 'g'))].map(([, column = '']) => column))];
}

/** The second statement knows the ledger row by the variables of the first. */
function afterwards(sql: string): string {
  return sql
    .replaceAll('l.profile_id', 'c.profile_id')
    .replaceAll('l.last_sequence', 'v_sequence')
    .replaceAll('l.last_hash', 'v_hash')
    .replace(/\bl\.([a-z_]+)/g, 'v_l_$1')
    .replaceAll('v_today', `(clock_timestamp() at time zone 'UTC')::date`);
}

/** The rules speak of the fields of a command c; in a function of its own these are arguments. */
function bind(sql: string, kind: OneMoveKind): string {
  const { args, optional } = COMMANDS[kind];
  const given = new Set<string>(['profile_id', 'key', ...args, ...optional]);
  const field = (name: string): string => {
    if (name === 'kind') return `'${kind}'`;
    if (name === 'happened_at') return 'coalesce(p_happened_at, v_now)';
    if (name === 'fingerprint') return 'v_fingerprint';
    return given.has(name) ? `p_${name}` : `null::${FIELDS[name as Field].type}`;
  };
  return sql
    .replace(/\bc\.([a-z_]+)/g, (_, name: string) => field(name))
    .replaceAll('v_now_text', 'extract(epoch from v_now)');
}

function asJson(kind: OneMoveKind): string {
  const { args, optional } = COMMANDS[kind];
  const fields: Field[] = ['profile_id', 'key', ...args, ...optional];
  return fields.map((field) => `'${FIELDS[field].name}', p_${field}`).join(', ');
}

const FOREIGN_IS_UNKNOWN = `if not public.fn_tenant_may_touch(p_profile_id) then
        return row (1, 'unknown_profile', null, null)::public.ledger_verdict;
      end if;`;

/** The fields that the rules speak of, and what a batch calls them. */
const FIELDS = {
  profile_id: { name: 'profileId', type: 'uuid' },
  trade_id: { name: 'tradeId', type: 'uuid' },
  key: { name: 'key', type: 'text' },
  actor: { name: 'actor', type: 'text' },
  happened_at: { name: 'happenedAt', type: 'timestamptz' },
  amount: { name: 'amount', type: 'numeric' },
  quantity: { name: 'quantity', type: 'numeric' },
  fee: { name: 'fee', type: 'numeric' },
  pnl: { name: 'pnl', type: 'numeric' },
  position_amount: { name: 'positionAmount', type: 'numeric' },
  position_quantity: { name: 'positionQuantity', type: 'numeric' },
  venue: { name: 'venue', type: 'text' },
  symbol: { name: 'symbol', type: 'text' },
  lock_token: { name: 'lockToken', type: 'bigint' },
} as const;

type Field = keyof typeof FIELDS;

/** Arguments after the profile and the key, in the order of the call; those in `optional` come last. */
interface Signature {
  readonly args: readonly Field[];
  readonly optional: readonly Field[];
  readonly isForTenants?: true;
}

const COMMANDS: Readonly<Record<OneMoveKind, Signature>> = {
  deposit: { args: ['amount', 'actor'], optional: ['happened_at'], isForTenants: true },
  withdraw: { args: ['amount', 'actor'], optional: ['happened_at'], isForTenants: true },
  reserve: {
    args: ['trade_id', 'amount', 'quantity', 'venue', 'symbol', 'actor'],
    optional: ['happened_at', 'lock_token'],
  },
  release: { args: ['trade_id', 'actor'], optional: ['amount', 'happened_at'] },
};
