import type { BuiltinTable } from '../builtin.ts';
import { strftime, strptime, toBrokenDownTime, toEpochSeconds } from '../dates.ts';

export const dateBuiltins: BuiltinTable = {
  'now/0': ({ nowMs }) => nowMs / 1000,
  'gmtime/0': (_machine, value) => toBrokenDownTime(value),
  'localtime/0': (_machine, value) => toBrokenDownTime(value),
  'mktime/0': (_machine, value) => toEpochSeconds(value),
  'strftime/1': (_machine, value, format) => strftime(value, format),
  'strflocaltime/1': (_machine, value, format) => strftime(value, format),
  'strptime/1': (_machine, value, format) => strptime(value, format),
};
