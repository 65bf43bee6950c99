/** Line icons. They are decorative: their meaning is always in the text as well. */
const paths = {
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3.5 3.5',
  add: 'M8 2.5v11M2.5 8h11',
  jobs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  home: 'M2 7.5 8 2.5l6 5M3.5 6.5v7h9v-7',
  sources: 'M13 5a5.5 5.5 0 0 0-10 2M3 11a5.5 5.5 0 0 0 10-2M13 2v3h-3M3 14v-3h3',
  inbox: 'M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 2h3l1-2H14',
  corpora: 'M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8h5M5.5 10.5h5',
  batch: 'M2.5 5.5 8 2.5l5.5 3L8 8.5zM2.5 8.5 8 11.5l5.5-3M2.5 11.5 8 14.5l5.5-3',
  system: 'M2 9h3l1.5-5 3 8.5L11 9h3',
  done: 'M3 8.5 6.5 12 13 4.5',
  failed: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.2',
  waiting: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5l2 1.5',
  running: 'M5 3.5v9l7-4.5z',
  paused: 'M5.5 3.5v9M10.5 3.5v9',
  canceled: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 12l8-8',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, tone = 'plain' }: { name: IconName; tone?: string }) {
  return (
    <svg
      className={`tone-${tone}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
