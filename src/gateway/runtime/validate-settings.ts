import { closeSync, openSync } from 'node:fs';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { validateExtraPorts } from '../pipeline/listen-port.ts';
import { refusals } from '../pipeline/refusals.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { validateGrpcSettings } from '../plugins/grpc/create-grpc-plugins.ts';
import { createUpstreamAuthorities } from '../proxy/authorities.ts';
import { compileOverrideRules } from '../steps/error-overrides/rules.ts';
import { compileSampleRules } from '../tracing/sampler.ts';

const problem = problems('settings', {
  message_unknown: {
    status: 500,
    message: 'gateway.error_messages: no refusal has the code {code}; see docs/reference/refusals.md',
  },
  message_of_definitions: { status: 500, message: 'gateway.error_messages: definitions choose the words of {code}' },
  override_unreadable: { status: 500, message: 'gateway.error_overrides: {reason}' },
  names_equal: { status: 500, message: 'gateway.health_name, gateway.ready_name and `live` must be three names' },
  control_without_traffic: {
    status: 500,
    message:
      'gateway.control_on_traffic_port: a process with the role {role} serves no API traffic; it needs all or gateway',
  },
  files_without_role: { status: 500, message: 'from: needs the role gateway; this process has the role {role}' },
  files_with_database: { status: 500, message: 'from: cannot be combined with database.url' },
  access_log_file_missing: { status: 500, message: 'access_log.file: is needed by access_log.output: file' },
  access_log_file_unused: {
    status: 500,
    message: 'access_log.file: needs access_log.output: file; the output is {output}',
  },
  access_log_unwritable: { status: 500, message: 'access_log.file: {path} cannot be opened for writing ({code})' },
  access_log_bodies_unused: { status: 500, message: 'access_log.bodies: needs access_log.format: json' },
  lifetime_missing: { status: 500, message: 'keys.force_lifetime: needs keys.lifetime_seconds' },
});

/** Codes whose message a definition sets, which would override the setting. */
const definitionMessages: ReadonlySet<string> = new Set(['signature_invalid']);

/** Cross-setting validation. A setting without effect is rejected. */
export function validateTrafficSettings(settings: Settings): void {
  for (const code of Object.keys(settings['gateway.error_messages'])) {
    if (definitionMessages.has(code)) throw problem.message_of_definitions({ detail: { code } });
    if (!Object.hasOwn(refusals, code)) throw problem.message_unknown({ detail: { code } });
  }
  const names = new Set([settings['gateway.health_name'], settings['gateway.ready_name'], 'live']);
  if (names.size < 3) throw problem.names_equal();
  if (settings['keys.force_lifetime'] && settings['keys.lifetime_seconds'] === 0) throw problem.lifetime_missing();
  validateExtraPorts(settings);
  validateOverrides(settings);
  compileSampleRules(settings['tracing.rules']);
  validateAccessLog(settings);
  // Reads the authorities once: what cannot be used is an error of the start, not of each thread.
  createUpstreamAuthorities(settings, () => undefined);
  validateGrpcSettings(settings);
}

/** Opens the file once: a path that cannot be written is an error of the start, not of each thread. */
function validateAccessLog(settings: Settings): void {
  const { 'access_log.output': output, 'access_log.file': path } = settings;
  if (settings['access_log.bodies'] && settings['access_log.format'] !== 'json')
    throw problem.access_log_bodies_unused();
  if (output !== 'file' && path !== '') throw problem.access_log_file_unused({ detail: { output } });
  if (output !== 'file') return;
  if (path === '') throw problem.access_log_file_missing();
  try {
    closeSync(openSync(path, 'a', 0o640));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw problem.access_log_unwritable({ detail: { path, code }, cause: error });
  }
}

function validateOverrides(settings: Settings): void {
  try {
    compileOverrideRules(settings['gateway.error_overrides'], settings['templates.directory']);
  } catch (error) {
    if (!(error instanceof ApiCompileError)) throw error;
    throw problem.override_unreadable({ detail: { reason: error.message } });
  }
}

export const servesTraffic = ({ role }: Settings): boolean => role === 'all' || role === 'gateway';

/** Rejects traffic settings in a process whose role serves no traffic. */
export function validateRole(settings: Settings): void {
  if (settings['gateway.control_on_traffic_port'] && !servesTraffic(settings))
    throw problem.control_without_traffic({ detail: { role: settings.role } });
  if (settings.from && settings.role !== 'gateway')
    throw problem.files_without_role({ detail: { role: settings.role } });
  if (settings.from && settings['database.url']) throw problem.files_with_database();
}
