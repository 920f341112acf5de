import { problems } from '#base/problems.ts';

/** Problems of `gw start --demo` and `gw demo`. */
export const problem = problems('demo', {
  role: { status: 400, message: 'The demo needs all roles in one process: start it without --role {role}' },
  tls: { status: 400, message: 'The demo calls the gateway over HTTP: start it without gateway.tls.enabled' },
  address_refused: {
    status: 400,
    message: 'The demo has its upstream on {host}, which outbound.refused_addresses refuses: take it off the list',
  },
  database_unavailable: { status: 503, message: 'The demo needs the database, which is unavailable: start it later' },
  not_empty: {
    status: 409,
    message:
      'This installation is in use, and the demo is for an empty one: it has {contents}. Start the demo with a data directory of its own: gw start --demo --data-dir PATH',
  },
  removal_unfinished: {
    status: 409,
    message: 'A removal of the demo was interrupted: run gw demo --remove again, then gw start --demo',
  },
  has_dependents: {
    status: 409,
    message: 'The demo is not removed, because other objects depend on it: {list}. Delete or change them first',
  },
});
