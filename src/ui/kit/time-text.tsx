import { sharedTexts } from '../texts/shared-texts.ts';
import { formatRelative, formatTime } from './format.ts';

/** Relative time, absolute with its zone in the tooltip. */
export function TimeText({ time }: { time: string | number | undefined }) {
  const ms = typeof time === 'number' ? time * 1000 : Date.parse(time ?? '');
  if (Number.isNaN(ms) || ms <= 0) return <span className="text-dim">{sharedTexts.kit.never}</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)} className="whitespace-nowrap">
      {formatRelative(ms)}
    </time>
  );
}
