import { Card, FactList } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { SiteState } from '../overview/overview-page.tsx';

const own = adminTexts.configuration;
const toWord = (isOn: boolean) => (isOn ? own.on : own.off);

export function ConfigurationPage() {
  const read = useOperation('GET /portal-api/configs', {});
  const config = read.data?.value[0];
  const site = useOperation('GET /portal-api/overview', { query: { days: 1 } }).data?.value.Site;
  return (
    <PageFrame title={own.title} about={own.about} width="form">
      <div className="flex flex-col gap-4">
        {!config && <QueryState query={read} />}
        {site && <SiteState site={site} />}
        {config && (
          <Card>
            <FactList
              rows={[
                [own.rows.version, config.Version],
                [own.rows.bootstrapped, config.BootstrappedAt],
                [own.rows.port, config.HostPort],
                [own.rows.logLevel, config.LogLevel],
                [own.rows.logFormat, own.formats[config.LogFormat]],
                [own.rows.secret, config.PortalAPISecret],
                [own.rows.tls, toWord(config.TLSConfig.Enable)],
                [own.rows.tlsVersion, config.TLSConfig.MinVersion],
                [own.rows.database, `${config.Database.Dialect} ${config.Database.ConnectionString}`],
                [own.rows.blog, toWord(config.Blog.Enable)],
              ]}
            />
          </Card>
        )}
      </div>
    </PageFrame>
  );
}
