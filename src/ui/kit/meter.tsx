import { formatNumber } from './format.ts';

export interface MeterProps {
  /** Accessible name. */
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

/** Share of a quantity that is left; below a tenth it is amber, at nothing red. */
export function Meter({ label, value, max }: MeterProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  const colour = share === 0 ? 'bg-danger-solid' : share < 0.1 ? 'bg-warning' : 'bg-accent';
  return (
    <>
      <meter className="sr-only" aria-label={label} min={0} max={max} value={value}>
        {formatNumber(value)} / {formatNumber(max)}
      </meter>
      <div aria-hidden className="h-1.5 w-full min-w-16 overflow-hidden rounded-full bg-hover">
        <div className={`h-full rounded-full ${colour}`} style={{ width: `${share === 0 ? 100 : share * 100}%` }} />
      </div>
    </>
  );
}
