import { sharedTexts } from '../texts/shared-texts.ts';

interface LocalLinkNoteProps {
  readonly link: string;
  /** Setting with the address that links begin with. */
  readonly setting: string;
}

/** Warning beside a link to hand on whose address only this computer has. */
export const LocalLinkNote = ({ link, setting }: LocalLinkNoteProps) =>
  URL.parse(link)?.hostname === 'localhost' ? (
    <p className="mt-2 text-small">{sharedTexts.kit.localLink(setting)}</p>
  ) : null;
