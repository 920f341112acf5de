import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import type { ChartProps } from './chart-types.ts';

const seriesCount = 8;

/** uPlot behind `Chart`. Colours are read from the tokens when the plot is created. */
export default function LinePlot({ times, series, unit = '', height = 180 }: ChartProps) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = parent.current!;
    const style = getComputedStyle(element);
    const token = (name: string) => toCanvasColour(element, style.getPropertyValue(name));
    const axis = { stroke: token('--dim'), grid: { stroke: token('--line'), width: 1 }, ticks: { show: false } };
    const plot = new UPlot(
      {
        width: element.clientWidth || 600,
        height,
        cursor: { sync: { key: 'page' } },
        legend: { show: series.length > 1 },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, 1)] } },
        axes: [axis, { ...axis, size: 56, values: (_plot, ticks) => ticks.map(it => `${it}${unit && ` ${unit}`}`) }],
        series: [
          {},
          ...series.map(({ label, tone }, index) => ({
            label,
            width: 1.5,
            stroke: token(tone ? `--${tone}` : `--series-${(index % seriesCount) + 1}`),
            spanGaps: false,
          })),
        ],
      },
      [[...times], ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, unit, height]);
  return <div ref={parent} />;
}

/** A canvas resolves no light-dark(): the colour is computed by an element. */
function toCanvasColour(parent: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  parent.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
