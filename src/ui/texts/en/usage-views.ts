import { pluralize } from '../pluralize.ts';

/** Texts of the views and comparisons of the analytics page, loaded with it. */
export const usageViewTexts = {
  views: 'Views of the analytics',
  tabs: { overview: 'Overview', endpoints: 'Endpoints', versions: 'Versions', hours: 'Hours of the week' },
  weekHours: 'Requests by weekday and hour',
  weekHoursAbout:
    'Requests of the chosen range, of its last four weeks at most, in your time zone. A stronger colour means more requests.',
  weekday: 'Weekday',
  weekdays: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  compare: 'Compare with the previous period',
  earlierRequests: 'Requests before',
  change: (change: string, earlier: string) => `${change} compared with ${earlier} before`,
  noneEarlier: 'no requests before',
  changes: (count: string) => `${pluralize(count, 'configuration change')} in this time, marked on the chart`,
  changesCut: (count: number) => `The newest ${count} are listed and marked.`,
  openRecord: (action: string) => `Audit record: ${action}`,
  endpoints: 'Requests by endpoint',
  versions: 'Requests by version',
  columns: { method: 'Method', path: 'Path', version: 'Version', last: 'Last request' },
  noVersion: 'not versioned',
} as const;
