import { Link } from '@tanstack/react-router';
import { Badge } from '../../kit/badge.tsx';
import { IdText } from '../../kit/copy.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { Meter } from '../../kit/meter.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { keyUsageTexts as usage } from '../../texts/en/key-usage.ts';
import { texts } from '../../texts/texts.ts';
import { describeRate } from '../limits/limit-text.ts';
import { type KeyFacts, nameKey } from './key-facts.ts';
import { KeyState } from './key-state.tsx';
import { KeyCallCount, KeyLastUse } from './key-usage.tsx';

const own = texts.keys;
const maxNames = 2;

/** The first names, and the number of the others. */
const NameBadges = ({ names }: { names: readonly string[] }) =>
  names.length === 0 ? (
    <span className="text-dim">–</span>
  ) : (
    <span className="inline-flex flex-wrap gap-1 align-middle" title={names.join(', ')}>
      {names.slice(0, maxNames).map(name => (
        <Badge key={name}>{name}</Badge>
      ))}
      {names.length > maxNames && <Badge>+{names.length - maxNames}</Badge>}
    </span>
  );

export interface KeyNames {
  nameOfPolicy(id: string): string;
  nameOfApi(id: string): string;
  /** Hashes of the page, for columns of usage; absent where the user may not see it. */
  readonly hashes?: readonly string[] | undefined;
}

export const createKeyColumns = ({ nameOfPolicy, nameOfApi, hashes }: KeyNames): readonly Column<KeyFacts>[] => [
  {
    id: 'alias',
    title: own.columns.alias,
    cell: key => (
      <Link to="/keys/$keyHash" params={{ keyHash: key.hash }} className="row-link">
        {key.alias || <em className="text-dim">{own.noAlias}</em>}
      </Link>
    ),
  },
  { id: 'key', title: own.columns.hash, cell: ({ hash }) => <IdText id={hash} maxChars={8} /> },
  { id: 'state', title: own.columns.state, cell: key => <KeyState item={key} /> },
  {
    id: 'policies',
    title: own.columns.policies,
    cell: ({ policies }) => <NameBadges names={policies.map(nameOfPolicy)} />,
  },
  {
    id: 'apis',
    title: own.columns.apis,
    cell: ({ apis }) => <NameBadges names={apis.map(({ id, name }) => name || nameOfApi(id))} />,
  },
  {
    id: 'limits',
    title: own.columns.limits,
    cell: ({ rate, per, policies }) =>
      policies.length > 0 && rate <= 0 ? (
        <span className="whitespace-nowrap text-dim">{own.byPolicies}</span>
      ) : (
        describeRate({ rate, per })
      ),
  },
  { id: 'quota', title: own.columns.quota, cell: key => <QuotaCell item={key} /> },
  { id: 'tags', title: own.tags, isOptional: true, cell: ({ tags }) => <NameBadges names={tags} /> },
  {
    id: 'created',
    title: own.columns.created,
    isOptional: true,
    cell: ({ createdAt }) => <TimeText time={createdAt} />,
  },
  ...(hashes ? createUsageColumns(hashes) : []),
];

const createUsageColumns = (hashes: readonly string[]): readonly Column<KeyFacts>[] => [
  {
    id: 'lastUsed',
    title: usage.lastUsed,
    isOptional: true,
    cell: ({ hash }) => <KeyLastUse hash={hash} hashes={hashes} />,
  },
  {
    id: 'calls',
    title: usage.calls,
    isOptional: true,
    align: 'right',
    cell: ({ hash }) => <KeyCallCount hash={hash} hashes={hashes} />,
  },
];

function QuotaCell({ item }: { item: KeyFacts }) {
  const { quotaMax, quotaLeft, policies } = item;
  if (quotaMax <= 0)
    return (
      <span className="whitespace-nowrap text-dim">{policies.length > 0 ? own.byPolicies : texts.kit.unlimited}</span>
    );
  return (
    <div className="flex w-32 flex-col gap-1">
      <span className="text-small">{own.quotaLeft(formatNumber(quotaLeft), formatNumber(quotaMax))}</span>
      <Meter label={own.quotaOf(nameKey(item))} value={quotaLeft} max={quotaMax} />
    </div>
  );
}
