import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import type { ChartProps, PlotProps } from './chart-types.ts';
import { classNames } from './class-names.ts';
import { formatAxisTime, formatNumber, formatTime, toZonedDate } from './format.ts';
import { toCanvasColour } from './save-chart.ts';

const seriesCount = 8;
const minHeight = 180;
const maxHeight = 320;
/** A wide chart is higher, so that its lines do not look flat. */
const widthOfHeight = 7;
/** Pixels between labels of the time axis. */
const labelSpace = 90;
const noMarks: readonly number[] = [];
const dash = [4, 4];

/** Number of changes of the theme, of the page or of the system. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const count = () => setChanges(before => before + 1);
    const observer = new MutationObserver(count);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', count);
    return () => {
      observer.disconnect();
      system.removeEventListener('change', count);
    };
  }, []);
  return changes;
}

/** uPlot behind `Chart`: another plot for each theme. */
export default function LinePlot({ onDrawn, ...props }: PlotProps) {
  // Effects of children run first: the canvas is there.
  useEffect(() => onDrawn(), [onDrawn]);
  return <Plot key={useThemeChanges()} {...props} />;
}

/** Colours are read from the tokens when the plot is created. */
function Plot({ times, series, marks = noMarks, unit = '', height, onPick }: ChartProps) {
  const parent = useRef<HTMLDivElement>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const element = parent.current!;
    const toSize = () => {
      const width = element.clientWidth || 600;
      return { width, height: height ?? Math.min(maxHeight, Math.max(minHeight, Math.round(width / widthOfHeight))) };
    };
    const options = { ...createOptions(element, { series, unit, marks }), ...toSize() };
    const plot = new UPlot(options, [[...times], ...series.map(({ values }) => [...values])], element);
    plot.over.addEventListener('click', () => {
      const found = findPicked(plot, series);
      if (found) pick.current?.(times[found.index]!, found.place);
    });
    const observer = new ResizeObserver(() => plot.setSize(toSize()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, marks, unit, height]);
  // The canvas follows the width a frame later: until then it is cut off, and does not widen the page.
  return <div ref={parent} className={classNames('overflow-hidden', onPick && '[&_.u-over]:cursor-pointer')} />;
}

/** Value under the pointer: at the time of the cursor, of the series whose line is nearest; of equal ones the upper. */
function findPicked(plot: UPlot, series: ChartProps['series']): { index: number; place: number } | undefined {
  const { idx: index, top = 0 } = plot.cursor;
  if (index === null || index === undefined) return undefined;
  const distances = series.map(({ values }) => Math.abs(plot.valToPos(values[index] ?? 0, 'y') - top));
  const place = distances.lastIndexOf(Math.min(...distances));
  return series[place]?.values[index] ? { index, place } : undefined;
}

type OptionInput = Required<Pick<ChartProps, 'series' | 'unit' | 'marks'>>;

function createOptions(element: HTMLElement, { series, unit, marks }: OptionInput) {
  const style = getComputedStyle(element);
  const token = (name: string) => toCanvasColour(element, style.getPropertyValue(name));
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: token('--dim'), font, grid: { stroke: token('--line'), width: 1 }, ticks: { show: false } };
  const format = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : `${formatNumber(value, 1)}${unit && ` ${unit}`}`;
  return {
    tzDate: (seconds: number) => toZonedDate(seconds * 1000),
    cursor: { sync: { key: 'page' } },
    hooks: { draw: [(plot: UPlot) => drawMarks(plot, marks, token('--accent'))] },
    legend: { show: series.length > 1 },
    scales: { y: { range: (_plot: UPlot, _min: number, max: number): [number, number] => [0, Math.max(max, 1)] } },
    axes: [
      {
        ...axis,
        space: labelSpace,
        values: (_plot: UPlot, ticks: number[], _axis: number, _space: number, step: number) =>
          ticks.map((tick, place) => formatAxisTime(tick, ticks[place - 1], step)),
      },
      { ...axis, size: 64, values: (_plot: UPlot, ticks: number[]) => ticks.map(format) },
    ],
    series: [
      { value: (_plot: UPlot, time: number | null) => (time === null ? '' : formatTime(time * 1000)) },
      ...series.map(({ label, tone, isDashed }, index) => ({
        label,
        width: 1.5,
        ...(isDashed ? { dash } : {}),
        points: { size: 4 },
        stroke: token(tone ? `--${tone}` : `--series-${(index % seriesCount) + 1}`),
        spanGaps: false,
        // Without a cursor in the plot there is no place, and no value.
        value: (_plot: UPlot, value: number | null, _series: number, place: number | null) =>
          place === null ? '' : format(value),
      })),
    ],
  };
}

function drawMarks(plot: UPlot, marks: readonly number[], colour: string): void {
  const { left, top, width, height } = plot.bbox;
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  for (const mark of marks) {
    const x = plot.valToPos(mark, 'x', true);
    if (x < left || x > left + width) continue;
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
  }
  ctx.restore();
}
