const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const time = '(\\d\\d):(\\d\\d):(\\d\\d)';
const month = `(${months.join('|')})`;
const imfFixdate = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\\d\\d) ${month} (\\d{4}) ${time} GMT$`);
const rfc850Date = new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\\d\\d)-${month}-(\\d\\d) ${time} GMT$`);
const asctimeDate = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} ([ \\d]\\d) ${time} (\\d{4})$`);
/** A two-digit year is never further in the future (RFC 9110, section 5.6.7). */
const maxFutureYears = 50;

/** HTTP-date in its three forms (RFC 9110, section 5.6.7), in milliseconds; undefined for anything else. */
export function parseCacheDate(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const value = text.trim();
  const fixed = imfFixdate.exec(value);
  if (fixed) return toTime(Number(fixed[3]), fixed[2]!, fixed[1]!, fixed.slice(4));
  const asctime = asctimeDate.exec(value);
  if (asctime) return toTime(Number(asctime[6]), asctime[1]!, asctime[2]!, asctime.slice(3, 6));
  const old = rfc850Date.exec(value);
  return old ? toTime(expandYear(Number(old[3]), nowMs), old[2]!, old[1]!, old.slice(4)) : undefined;
}

function expandYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + maxFutureYears ? year - 100 : year;
}

function toTime(year: number, monthName: string, day: string, clock: readonly string[]): number | undefined {
  const [hours = 0, minutes = 0, seconds = 0] = clock.map(Number);
  const days = Number(day);
  // 60 is a leap second.
  if (hours > 23 || minutes > 59 || seconds > 60) return undefined;
  const date = new Date(Date.UTC(year, months.indexOf(monthName), days));
  return date.getUTCDate() === days ? date.getTime() + ((hours * 60 + minutes) * 60 + seconds) * 1000 : undefined;
}
