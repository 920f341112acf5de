import { ImageDown } from 'lucide-react';
import { lazy, Suspense, useCallback, useRef, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button, IconButton } from './button.tsx';
import type { ChartProps } from './chart-types.ts';
import { formatNumber, formatTime } from './format.ts';
import { Skeleton } from './states.tsx';

const Plot = lazy(() => import('./line-plot.tsx'));

/** Lines over time, with a table of the same values behind a button. */
export function Chart(props: ChartProps) {
  const [isTable, setTable] = useState(false);
  const [isDrawn, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  const { summary, fileName } = props;
  const figure = useRef<HTMLElement>(null);
  const save = async (name: string) => (await import('./save-chart.ts')).saveChart(figure.current!, summary, name);
  return (
    <figure ref={figure} className="flex flex-col gap-2">
      <figcaption className="flex items-center justify-between gap-3 text-small text-dim">
        <span className="grow">{summary}</span>
        {fileName && !isTable && (
          <IconButton
            icon={ImageDown}
            label={sharedTexts.kit.chartImage}
            disabled={!isDrawn}
            onClick={() => void save(fileName)}
          />
        )}
        <Button kind="quiet" className="-mr-3 shrink-0" onClick={() => setTable(!isTable)}>
          {isTable ? sharedTexts.kit.chartLines : sharedTexts.kit.chartTable}
        </Button>
      </figcaption>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <div aria-hidden>
          <Suspense fallback={<Skeleton lines={4} />}>
            <Plot {...props} onDrawn={onDrawn} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

const ChartTable = ({ summary, times, series, unit = '', onPick }: ChartProps) => (
  <section aria-label={summary} {...scrollable} className="max-h-60 overflow-auto rounded-card border border-line">
    <table className="w-full">
      <thead>
        <tr className="text-left text-small text-dim">
          <th scope="col" className="px-2">
            {sharedTexts.kit.time}
          </th>
          {series.map(({ label }) => (
            <th key={label} scope="col" className="px-2 text-right">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map((time, index) => (
          <tr key={time}>
            <td className="px-2">{formatTime(time * 1000)}</td>
            {series.map(({ label, values }, place) => (
              <td key={label} className="px-2 text-right">
                <Value
                  label={`${label}, ${formatTime(time * 1000)}`}
                  value={values[index] ?? null}
                  unit={unit}
                  onPick={onPick && (() => onPick(time, place))}
                />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

interface ValueProps {
  readonly label: string;
  readonly value: number | null;
  readonly unit: string;
  readonly onPick: (() => void) | undefined;
}

/** A value of the table; a button where it can be chosen. */
function Value({ label, value, unit, onPick }: ValueProps) {
  if (value === null) return '–';
  const text = `${formatNumber(value, 1)} ${unit}`.trim();
  if (!onPick || value === 0) return text;
  return (
    <button
      type="button"
      aria-label={`${label}: ${text}`}
      className="min-h-6 min-w-6 text-accent-ink underline"
      onClick={onPick}
    >
      {text}
    </button>
  );
}
