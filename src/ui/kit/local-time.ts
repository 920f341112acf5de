const pad = (value: number) => String(value).padStart(2, '0');

/** Unix seconds as the value of a `datetime-local` field, in the zone of the browser; 0 and less are empty. */
export function toLocalTime(seconds: number): string {
  if (seconds <= 0) return '';
  const time = new Date(seconds * 1000);
  const date = `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
  return `${date}T${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}`;
}

/** Unix seconds of a `datetime-local` field; 0 where it is empty. */
export const fromLocalTime = (text: string): number => (text === '' ? 0 : Math.floor(Date.parse(text) / 1000));
