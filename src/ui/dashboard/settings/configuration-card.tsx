import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { callServer, type ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { saveJson } from '../../kit/save-file.ts';
import { useToasts } from '../../kit/toast.tsx';
import { configurationFileTexts as own } from '../../texts/en/configuration-files.ts';
import { useSession } from '../session/session.ts';
import { ConfigurationImport } from './configuration-import.tsx';

const pageSize = 500;

type ExportPage = ResultOf<'GET /api/configuration'>;

/** All pages of the export, as one document. */
async function readConfiguration(): Promise<Pick<ExportPage, 'objects' | 'kinds'>> {
  const objects: ExportPage['objects'][number][] = [];
  for (let after = ''; ; ) {
    const { value } = await callServer('GET /api/configuration', { query: { after, size: pageSize } });
    objects.push(...value.objects);
    if (value.next === undefined) return { kinds: value.kinds, objects };
    after = value.next;
  }
}

/** Configuration of the organisation as a file, and back after a preview. */
export function ConfigurationCard() {
  const { organisation } = useSession();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const document = await readConfiguration();
      saveJson(document, `configuration-${organisation.id}.json`);
      toasts.showSuccess(own.exported(formatNumber(document.objects.length)));
    } catch (error) {
      toasts.showError((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={own.title}>
      <div className="flex flex-col gap-4">
        <p className="text-dim">{own.about}</p>
        <Button className="self-start" icon={Download} isBusy={isBusy} onClick={() => void save()}>
          {own.export}
        </Button>
        <ConfigurationImport />
      </div>
    </Card>
  );
}
