import type { PlainTable } from '../builtins-table.ts';
import { dateText, partsOf, readDate, secondsOf } from '../dates.ts';

export const times: PlainTable = {
  'now/0': ({ nowMs }) => nowMs / 1000,
  'gmtime/0': (_machine, value) => partsOf(value),
  'localtime/0': (_machine, value) => partsOf(value),
  'mktime/0': (_machine, value) => secondsOf(value),
  'strftime/1': (_machine, value, format) => dateText(value, format),
  'strflocaltime/1': (_machine, value, format) => dateText(value, format),
  'strptime/1': (_machine, value, format) => readDate(value, format),
};
