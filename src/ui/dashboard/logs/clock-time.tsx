import { nowMs } from '../../kit/browser-clock.ts';
import { formatTime } from '../../kit/format.ts';
import { usePreferences } from '../session/preferences.ts';

/** Older times have their date. */
const maxAgeWithoutDateMs = 12 * 3_600_000;

/** Time of day to the millisecond in the zone of the user; with date and zone in the tooltip. */
export function ClockTime({ time }: { time: string }) {
  const { preferences } = usePreferences();
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return <span>{time}</span>;
  const format = new Intl.DateTimeFormat(preferences?.language || undefined, {
    ...(nowMs() - ms > maxAgeWithoutDateMs ? { month: 'short', day: 'numeric' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
    ...(preferences?.time_zone ? { timeZone: preferences.time_zone } : {}),
  });
  return (
    <time dateTime={time} title={formatTime(ms)} className="font-mono text-small whitespace-nowrap">
      {format.format(ms)}
    </time>
  );
}
