import type { ResultOf } from '../../kit/calls.ts';
import { uptimeTexts as own } from '../../texts/en/uptime.ts';

type Outcome = ResultOf<'GET /api/uptime'>['data'][number]['checks'][number];

/** The height of a bar says the same as its colour. */
const bars: readonly (readonly [outcome: Outcome, height: number, className: string])[] = [
  ['up', 8, 'fill-success'],
  ['failed', 14, 'fill-warning'],
  ['down', 20, 'fill-danger'],
];
const maxHeight = 20;
const barWidth = 2;
const step = 3;

/** The newest checks of a host, one bar each, the newest at the right. */
export function CheckStrip({ checks }: { checks: readonly Outcome[] }) {
  if (checks.length === 0) return <span className="text-dim">{own.noChecks}</span>;
  const count = (outcome: Outcome) => checks.filter(it => it === outcome).length;
  const toPath = (outcome: Outcome, height: number) =>
    checks
      .map((it, place) => (it === outcome ? `M${place * step} ${maxHeight}h${barWidth}v-${height}h-${barWidth}z` : ''))
      .join('');
  const about = own.checksAbout(checks.length, count('failed'), count('down'));
  return (
    <svg role="img" aria-label={about} width={checks.length * step} height={maxHeight} className="shrink-0">
      <title>{about}</title>
      {bars.map(([outcome, height, className]) => (
        <path key={outcome} d={toPath(outcome, height)} className={className} />
      ))}
    </svg>
  );
}
