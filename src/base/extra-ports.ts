import { problems } from './problems.ts';
import type { Settings } from './settings.ts';

const problem = problems('ports', {
  unreadable: {
    status: 500,
    message: 'gateway.extra_ports: {text} is neither a port nor a range of ports such as 9000-9010',
  },
});

const range = /^(\d{1,5})(?:-(\d{1,5}))?$/;

/** True for a port that the operator opens to APIs with `gateway.extra_ports`. */
export function isExtraPort(settings: Pick<Settings, 'gateway.extra_ports'>, port: number): boolean {
  return settings['gateway.extra_ports'].some(text => {
    const [, from, to = from] = range.exec(text) ?? [];
    if (from === undefined || Number(to) > 65_535 || Number(from) > Number(to))
      throw problem.unreadable({ detail: { text } });
    return port >= Number(from) && port <= Number(to);
  });
}

/** Port that serves an API which names one; 0 for the gateway's own. */
export const extraPortOf = (settings: Settings, port: number): number =>
  port === settings['gateway.port'] || !isExtraPort(settings, port) ? 0 : port;
