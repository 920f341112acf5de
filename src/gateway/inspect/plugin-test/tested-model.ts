import { toModel } from '#apis/api/rules.ts';
import type { DefinitionOfKind } from '#apis/api/schema.ts';
import type { Model } from '#definition/model.ts';
import type { PluginTestTask } from './schema.ts';

/** Model of an API with the tested hook alone, so that the drivers load it as they load those of definitions. */
export function buildTestedModel({ write, name, orgId, apiId }: PluginTestTask): Model {
  const code = Buffer.from(write.code).toString('base64');
  const hook = { name, path: '', code, require_session: true };
  const isVirtual = write.hook_type === 'virtual';
  const hooks = isVirtual ? {} : { [write.hook_type]: write.hook_type === 'auth_check' ? hook : [hook] };
  const virtual = {
    path: '/',
    method: 'GET',
    response_function_name: name,
    function_source_type: 'blob',
    function_source_uri: code,
  };
  const definition = {
    name: 'plugin test',
    api_id: apiId,
    org_id: orgId,
    use_keyless: write.hook_type !== 'auth_check',
    custom_plugin_auth_enabled: write.hook_type === 'auth_check',
    proxy: { listen_path: '/', target_url: 'http://localhost/' },
    config_data: write.config_data ?? {},
    custom_middleware: { driver: write.driver ?? 'javascript', ...hooks },
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', extended_paths: isVirtual ? { virtual: [virtual] } : {} } },
    },
  };
  return toModel({ kind: 'classic', definition } as unknown as DefinitionOfKind);
}
