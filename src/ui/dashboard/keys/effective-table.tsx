import { Link } from '@tanstack/react-router';
import { Badge } from '../../kit/badge.tsx';
import { texts } from '../../texts/texts.ts';
import type { EffectiveRow, ValueOrigin } from './effective-values.ts';

const own = texts.keys;

export type NameOfPolicy = (id: string) => string;

/** Where a value comes from: the key, or policies, which are linked. */
export const SourceBadges = ({
  sources,
  nameOfPolicy,
  isLinked = true,
}: {
  sources: readonly ValueOrigin[];
  nameOfPolicy: NameOfPolicy;
  /** A control, such as a summary, contains no links. */
  isLinked?: boolean;
}) => (
  <span className="inline-flex flex-wrap gap-1">
    {sources.length === 0 && <Badge>{own.sourceSingle}</Badge>}
    {sources.map(({ kind, id }) =>
      kind === 'key' ? (
        <Badge key="key">{own.sourceKey}</Badge>
      ) : !isLinked ? (
        <Badge key={id} tone="info">
          {nameOfPolicy(id)}
        </Badge>
      ) : (
        <Link key={id} to="/policies/$policyId" params={{ policyId: id }} className="row-link">
          <Badge tone="info">{nameOfPolicy(id)}</Badge>
        </Link>
      ),
    )}
  </span>
);

interface EffectiveTableProps {
  readonly label: string;
  readonly rows: readonly EffectiveRow[];
  readonly nameOfPolicy: NameOfPolicy;
}

const head = 'border-b border-line py-1.5 pr-4 text-left text-small font-medium text-dim max-[700px]:sr-only';
const cell = 'border-b border-line py-2 pr-4 align-top max-[700px]:block max-[700px]:border-0 max-[700px]:py-0.5';

/** Limits with their origin; values that do not apply are struck through. */
export const EffectiveTable = ({ label, rows, nameOfPolicy }: EffectiveTableProps) => (
  <table aria-label={label} className="w-full border-collapse max-[700px]:block">
    <thead className="max-[700px]:block">
      <tr>
        <th scope="col" className={head}>
          {own.limit}
        </th>
        <th scope="col" className={head}>
          {own.value}
        </th>
        <th scope="col" className={head}>
          {own.source}
        </th>
        <th scope="col" className={head}>
          {own.overridden}
        </th>
      </tr>
    </thead>
    <tbody className="max-[700px]:block">
      {rows.map(row => (
        <tr key={row.name} className="max-[700px]:block max-[700px]:border-b max-[700px]:border-line max-[700px]:py-2">
          <th scope="row" className={`${cell} text-left font-normal whitespace-nowrap text-dim`}>
            {row.name}
          </th>
          <td className={`${cell} font-medium whitespace-nowrap`}>{row.value}</td>
          <td className={cell}>
            <SourceBadges sources={row.sources} nameOfPolicy={nameOfPolicy} />
          </td>
          <td className={cell}>
            <Overridden items={row.overridden} nameOfPolicy={nameOfPolicy} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Overridden = ({ items, nameOfPolicy }: { items: EffectiveRow['overridden']; nameOfPolicy: NameOfPolicy }) => (
  <ul className="flex flex-col gap-1">
    {items.map(({ source, value }) => (
      <li key={`${source.kind} ${source.id}`} className="flex flex-wrap items-center gap-2 text-dim">
        <s>{value}</s>
        <SourceBadges sources={[source]} nameOfPolicy={nameOfPolicy} />
      </li>
    ))}
  </ul>
);
