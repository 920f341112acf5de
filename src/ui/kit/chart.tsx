import { lazy, Suspense, useState } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button } from './button.tsx';
import type { ChartProps } from './chart-types.ts';
import { formatNumber, formatTime } from './format.ts';
import { Skeleton } from './states.tsx';

const Plot = lazy(() => import('./line-plot.tsx'));

/** Lines over time, with a table of the same values behind a button. */
export function Chart(props: ChartProps) {
  const [isTable, setTable] = useState(false);
  return (
    <figure className="flex flex-col gap-2">
      <figcaption className="flex items-center justify-between gap-3 text-small text-dim">
        <span>{props.summary}</span>
        <Button kind="quiet" className="-mr-3 shrink-0" onClick={() => setTable(!isTable)}>
          {isTable ? sharedTexts.kit.chartLines : sharedTexts.kit.chartTable}
        </Button>
      </figcaption>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <div aria-hidden>
          <Suspense fallback={<Skeleton lines={4} />}>
            <Plot {...props} />
          </Suspense>
        </div>
      )}
    </figure>
  );
}

/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

const ChartTable = ({ summary, times, series, unit = '' }: ChartProps) => (
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
            {series.map(({ label, values }) => (
              <td key={label} className="px-2 text-right">
                {values[index] === null || values[index] === undefined
                  ? '–'
                  : `${formatNumber(values[index], 1)} ${unit}`}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
