import { formatNumber, formatSeconds } from '../../kit/format.ts';
import { smoothingTexts as own } from '../../texts/en/smoothing.ts';
import { describeRate } from './limit-text.ts';
import type { Limits } from './limits.ts';
import { listSmoothingSteps, type SmoothingStep } from './smoothing-steps.ts';

const width = 320;
const height = 80;
const inset = 2;

/** Staircase of the allowance: it stays until a step, then rises. */
function toPath(steps: readonly SmoothingStep[]): string {
  const { second: end, allowance: top } = steps.at(-1)!;
  // One more delay shows the full rate as a line, not as a point.
  const last = end + (steps[1]?.second ?? 1);
  const toX = (second: number) => inset + (second / last) * (width - 2 * inset);
  const toY = (allowance: number) => height - inset - (allowance / top) * (height - 2 * inset);
  const corners = steps.map(({ second, allowance }, place) => {
    const from = place === 0 ? `M${toX(0)} ` : `H${toX(second)} V`;
    return `${from}${toY(allowance)}`;
  });
  return `${corners.join(' ')} H${toX(last)}`;
}

/** How smoothing raises the rate, in words and as a small chart; nothing where the limits have none. */
export function SmoothingChart({ limits }: { limits: Limits }) {
  const course = listSmoothingSteps(limits);
  const { smoothing } = limits;
  if (!course || !smoothing) return null;
  const { threshold = 0, step = 0, delay = 0 } = smoothing;
  const about = own.about(formatNumber(threshold), formatNumber(step), formatSeconds(delay), describeRate(limits));
  const reaches = own.reaches(course.count, formatSeconds(course.count * delay));
  return (
    <figure className="flex flex-col gap-2">
      <figcaption className="font-medium">{own.title}</figcaption>
      <svg
        role="img"
        aria-label={`${own.title}: ${about} ${reaches}`}
        viewBox={`0 0 ${width} ${height}`}
        className="h-20 w-full max-w-80"
      >
        <path d={`M${inset} ${height - inset} H${width - inset}`} className="fill-none stroke-line" />
        <path d={toPath(course.steps)} className="fill-none stroke-accent" strokeWidth={2} />
      </svg>
      <p className="text-small text-dim">
        {about} {reaches}
      </p>
    </figure>
  );
}
