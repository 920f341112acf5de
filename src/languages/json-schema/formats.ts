import { isIP } from 'node:net';

/** Asserted formats; each check takes linear time at most. */
export const textFormats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  'date-time': text => {
    const [, date = '', time = ''] = /^([\d-]{10})[Tt ](.*)$/.exec(text) ?? [];
    return isDate(date) && isTime(time);
  },
  time: isTime,
  duration: text => /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/.test(text),
  email: isEmail,
  'idn-email': isEmail,
  hostname: isHostname,
  'idn-hostname': text => isHostname(text.replaceAll(/[^\0-\x7f]/g, 'x')),
  ipv4: text => isIP(text) === 4,
  ipv6: text => isIP(text) === 6 && !text.includes('%'),
  ip: text => isIP(text) !== 0,
  uri: text => isUri(text) && /^[a-z][a-z0-9+.-]*:/i.test(text),
  iri: text => /^[a-z][a-z0-9+.-]*:\S*$/i.test(text),
  'uri-reference': isUri,
  'iri-reference': text => !/[\s\\<>"{}|^`]/.test(text),
  'uri-template': text => !/[\s\\<>"|^`]/.test(text) && /^(?:[^{}]|\{[^{}]+\})*$/.test(text),
  uuid: text => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  'json-pointer': text => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  'relative-json-pointer': text => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
  byte: text => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
};

const int32 = 2 ** 31;
export const numberFormats: Readonly<Record<string, (value: number) => boolean>> = {
  int32: value => Number.isInteger(value) && value >= -int32 && value < int32,
  int64: value => Number.isInteger(value) && Math.abs(value) <= 2 ** 63,
};

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  if (day < 1 || day > (monthDays[month - 1] ?? 0)) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day < 29 || leap;
}

function isTime(text: string): boolean {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!parts) return false;
  const [hour, minute, second] = parts.slice(1, 4).map(Number) as [number, number, number];
  const offset = Number(parts[5] ?? 0) * 60 + Number(parts[6] ?? 0);
  if (hour > 23 || minute > 59 || second > 60 || Number(parts[5] ?? 0) > 23 || Number(parts[6] ?? 0) > 59) return false;
  if (second < 60) return true;
  // A leap second is the last of a day in UTC.
  const utc = (hour * 60 + minute - (parts[4] === '-' ? -offset : offset) + 2880) % 1440;
  return utc === 1439;
}

function isHostname(text: string): boolean {
  return (
    text.length <= 253 &&
    /^[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9][a-z0-9-]{0,62})*$/i.test(text) &&
    !/-(?:\.|$)/.test(text)
  );
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [local, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || local.length > 64) return false;
  const literal = /^\[(?:IPv6:)?(.*)\]$/.exec(host)?.[1];
  const plain = /^[^\s"(),:;<>@[\\\]]+$/.test(local) && !/^\.|\.\.|\.$/.test(local);
  return (
    (plain || /^"(?:[^"\\]|\\.)*"$/.test(local)) && (literal === undefined ? isHostname(host) : isIP(literal) !== 0)
  );
}

function isUri(text: string): boolean {
  return /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i.test(text);
}
