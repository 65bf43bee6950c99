/** Words that indicate the kind of a name next to them or around them. All in lower case. */
const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** They start sentences, but not names. */
export const sentenceOpeners = list(`
  a an the this that these those my your his her its our their some any each every all both no
  none i you he she it we they who what which whose where when why how there here one two three
  many most several few another other others such same in on at by for from to of with without
  within under over after before during since until while although though because if unless as
  and or but nor so yet than then thus hence however moreover furthermore therefore meanwhile
  instead also even only just not never always often sometimes usually once again later earlier
  now today yesterday tomorrow soon finally eventually currently recently originally initially
  subsequently additionally generally typically according about above across against along among
  around behind below beneath beside besides between beyond despite down except inside into like
  near off onto out outside through throughout toward towards up upon via per is are was were be
  been being has have had do does did can could will would shall should may might must let
  please see note yes well first second third next last unlike due following including based
  born given early late more much very too still perhaps maybe
`);

/** Capitalised in running text, but not a name. */
export const plainCapitals = list(`
  i ii iii iv v vi vii viii ix x i'm i've i'll i'd ok okay am pm ad bc ce bce mr mrs ms dr
  figure fig table chapter section appendix page volume vol part act scene item step note
  article no nos internet web january february march april may june july august september
  october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday
  wednesday thursday friday saturday sunday
`);

/** Common acronyms that are not names. */
export const plainAcronyms = list(`
  tv pc pcs suv suvs ceo cfo cto coo id ids cd cds dvd usb html http https url pdf sql api cpu
  gpu ram xml json css faq diy gps lcd led vip atm dna rna rsvp cli sdk ui ux ssd hdmi wifi asap
  ps pr hr it ai vr ar tvs ipo gdp
`);

/** Organisations with a one-word name that could also be a person or a place. */
export const knownOrganizations = list(`
  google amazon apple microsoft facebook meta twitter instagram youtube netflix disney walmart
  boeing airbus tesla toyota honda nissan ford audi bmw volkswagen mercedes-benz volvo fiat
  renault peugeot hyundai samsung sony nokia motorola siemens bosch philips panasonic toshiba
  hitachi intel amd nvidia oracle cisco dell lenovo adobe salesforce spotify uber lyft airbnb
  paypal visa mastercard starbucks mcdonald's nike adidas ikea unilever nestlé pfizer bayer
  novartis roche merck exxon chevron shell bp gazprom nasa fbi cia nsa fda epa nato unesco
  unicef opec interpol who imf bbc cnn nbc abc cbs fox hbo espn mtv reuters bloomberg politico
  nintendo sega atari xerox ibm hp at&t verizon comcast hulu tiktok snapchat whatsapp linkedin
  reddit wikipedia wikileaks mozilla taliban hezbollah hamas al-qaeda fifa uefa nba nfl nhl mlb
  ncaa goldman barclays hsbc santander
`);

/** Small words inside names. */
export const connectors = list(`
  of the de la le du des del della di da dos das van von der den al bin ibn for & o' af
  av zu zur
`);

/** After these, "for" and "and" are part of the name: the Institute for …, the Ministry of …. */
export const offices = list(`
  council institute center centre society foundation association agency office ministry
  department committee campaign commission bureau school college faculty organization
`);

/** Connectors that only join the parts of a person's or a place's name. */
export const nobleConnectors = list(`
  de la le du des del della di da dos das van von der den bin ibn al af zu
`);

/** Before a person's name, and not part of it. */
export const titles = list(`
  mr mrs ms miss mister madam dr doctor prof professor sir dame lord lady president
  vice-president senator sen congressman congresswoman representative rep governor gov mayor
  minister chancellor ambassador judge justice secretary chairman chairwoman director captain
  capt colonel col major maj general gen lieutenant lt sergeant sgt admiral adm commander
  corporal private officer inspector detective administrator spokesman spokeswoman sheriff
  reverend rev father pastor bishop archbishop cardinal rabbi imam coach councillor count
  countess duke duchess baron baroness herr frau monsieur madame señor señora brigadier
`);

/** Before a person's name, and part of it. */
export const honorifics = list(
  'king queen prince princess pope saint st emperor empress tsar sultan',
);

/** Roles of people: "the guitarist Jan Novak", "her brother Karl". */
export const roles = list(`
  actor actress artist author musician singer songwriter guitarist bassist drummer keyboardist
  vocalist composer producer director writer novelist poet playwright journalist editor
  photographer painter sculptor architect engineer scientist physicist chemist biologist
  mathematician astronomer economist historian philosopher professor lawyer attorney politician
  leader founder co-founder owner manager coach player pitcher quarterback goalkeeper striker
  midfielder defender boxer wrestler swimmer golfer champion captain general soldier officer
  pilot astronaut explorer missionary priest bishop king queen prince princess emperor president
  senator governor mayor minister chancellor judge host presenter comedian dancer rapper dj
  model designer chef brother sister father mother son daughter wife husband uncle aunt cousin
  nephew niece friend girlfriend boyfriend partner colleague rival teammate widow student
  teacher critic screenwriter cinematographer conductor pianist violinist cellist organist
  chairman ceo executive spokesman spokeswoman investor activist character named mrs mr
`);

/** After a person's name: verbs for what people do. */
export const personVerbs = list(`
  said says told asked replied wrote writes married died lives lived born sang sings played
  plays joined left grew studied attended graduated taught became won resigned retired moved
  returned recorded performed directed starred appeared served argued believed claimed thinks
  thought felt knew himself herself who whose
`);

/** The last word, or any word, of an organisation's name. */
export const organizationHeads = list(`
  inc inc. ltd ltd. llc corp corp. co co. plc gmbh ag sa s.a. bv nv ab oy as spa srl kg llp lp
  company companies corporation limited incorporated holdings group partners associates
  industries enterprises systems technologies technology solutions services international
  consulting capital ventures bank bancorp trust fund insurance airlines airways motors electric
  energy petroleum oil pharmaceuticals laboratories labs laboratory software entertainment
  pictures studios studio records music media television tv radio broadcasting network news
  newspaper times post herald tribune gazette journal press publishing publications books
  university college school institute academy faculty department ministry agency bureau
  commission committee council board authority administration office parliament congress senate
  assembly court party union association society federation foundation organization organisation
  league club team fc f.c. afc cf united city rovers wanderers rangers athletic band orchestra
  choir ensemble quartet trio church army navy force corps brigade regiment division battalion
  squadron police guard museum hospital center centre clinic library theatre theater alliance
  coalition front movement conference consortium cooperative guild order seminary brothers sons
  railway railroad lines devils tigers lions bears giants eagles hawks bulls kings sharks wolves
  cubs sox yankees
`);

/** The last or first word of a place's name. */
export const placeHeads = list(`
  river lake sea ocean bay gulf strait channel island islands isle isles peninsula cape coast
  beach mountain mountains mount hill hills valley canyon desert forest park gardens garden
  plateau plain plains falls creek springs harbor harbour port county province state region
  district prefecture municipality township territory republic kingdom empire city town village
  borough parish street avenue road boulevard lane drive square bridge highway route airport
  station castle palace tower cathedral abbey stadium arena reservoir dam crater glacier pass
  basin delta archipelago north south east west quarter suburb heights
`);
export const placeOpeners = list(`
  north south east west northern southern eastern western central upper lower new mount mt mt.
  lake fort ft. port cape san santa saint st st. los las el la rio isle gulf bay river republic
`);

/** Neither a person, a place nor an organisation: works, events, prizes, laws, products. */
export const otherHeads = list(`
  war wars battle cup prize award awards festival championship championships olympics games
  tournament series season act law treaty agreement convention amendment constitution revolution
  rebellion movement theory theorem principle language bible day week night album song tour show
  symphony concerto sonata opera cycle edition volume project program programme operation crisis
  affair medal dynasty century age era award trophy bowl open grand prix classic magazine
`);

/** In lower case before a name: its kind. */
export const organizationCues = list(`
  company firm band group label team club university college school party organization
  organisation agency newspaper magazine network station bank airline manufacturer publisher
  studio brand duo trio orchestra league church retailer startup subsidiary owned acquired sued
  joined for versus vs against rivals signed
`);
export const placeCues = list(`
  city town village county province state region district island river lake capital country port
  suburb near in at from to toward towards through across around outside visited throughout
  between north south east west northern southern eastern western central
`);
export const otherCues = list(`
  album song single film movie book novel play show series game magazine titled called entitled
  episode track ep poem opera musical documentary ship language award version operating
`);

/** In lower case after a name: its kind. */
export const organizationTails = list(`
  company firm band label team club group party university executive employees shares
  shareholders officials spokesman spokeswoman released announced announces acquired launched
  merged fans members lineup line-up drummer guitarist vocalist coach
`);
export const placeTails = list(`
  area region city county province district river valley border airport residents metropolitan
  suburb native island coast
`);
export const otherTails = list(`
  album song film movie book novel series game award prize language magazine episode soundtrack
  single music style people culture version
`);

/** Regions, and places that the lists of cities and countries lack. */
export const regions: ReadonlySet<string> = new Set(
  `africa,asia,europe,north america,south america,latin america,central america,oceania,
  antarctica,america,americas,middle east,far east,scandinavia,balkans,caribbean,mediterranean,
  siberia,great britain,britain,england,scotland,wales,northern ireland,ireland,uk,u.k.,usa,
  u.s.,us,u.s.a.,uae,ussr,soviet union,yugoslavia,czechoslovakia,east germany,west germany,
  prussia,ottoman empire,roman empire,russia,south korea,north korea,korea,vietnam,iran,syria,
  taiwan,tanzania,bolivia,venezuela,moldova,macedonia,laos,palestine,kosovo,burma,holland,
  persia,tibet,hong kong,macau,alabama,alaska,arizona,arkansas,california,colorado,connecticut,
  delaware,florida,georgia,hawaii,idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,
  maryland,massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,
  new hampshire,new jersey,new mexico,new york,north carolina,north dakota,ohio,oklahoma,oregon,
  pennsylvania,rhode island,south carolina,south dakota,tennessee,texas,utah,vermont,virginia,
  washington,west virginia,wisconsin,wyoming,washington d.c.,d.c.,puerto rico,ontario,quebec,
  british columbia,alberta,manitoba,saskatchewan,nova scotia,new brunswick,newfoundland,
  new south wales,victoria,queensland,tasmania,western australia,south australia,bavaria,saxony,
  hesse,brandenburg,westphalia,catalonia,andalusia,galicia,tuscany,lombardy,sicily,sardinia,
  provence,normandy,brittany,alsace,burgundy,yorkshire,lancashire,kent,essex,sussex,surrey,
  devon,cornwall,norfolk,suffolk,hampshire,somerset,dorset,cumbria,los angeles,manhattan,
  brooklyn,queens,bronx,hollywood,silicon valley,new england,midwest,punjab,kashmir,bengal,
  gujarat,kerala,tamil nadu,maharashtra,rajasthan,crimea,chechnya,caucasus,alps,himalayas,andes,
  rockies,sahara,nile,rhine,danube,thames,ganges,atlantic,pacific,atlantic ocean,
  pacific ocean,indian ocean,arctic,baltic sea,black sea,red sea,dead sea,caspian sea,north sea,
  persian gulf,gaza,west bank,earth,mars,venus,jupiter,saturn,moon`
    .split(',')
    .map((name) => name.trim().replace(/\s+/g, ' ')),
);

/** Peoples, languages and religions. */
export const nationalities = list(`
  american british english scottish welsh irish french german italian spanish portuguese dutch
  belgian swiss austrian swedish norwegian danish finnish icelandic polish czech slovak
  hungarian romanian bulgarian greek turkish russian ukrainian belarusian lithuanian latvian
  estonian serbian croatian bosnian slovenian albanian macedonian montenegrin georgian armenian
  azerbaijani kazakh uzbek chinese japanese korean vietnamese thai indonesian malaysian filipino
  philippine indian pakistani bangladeshi nepalese tibetan mongolian iranian persian iraqi
  israeli palestinian lebanese syrian jordanian saudi egyptian libyan tunisian algerian moroccan
  sudanese ethiopian somali kenyan ugandan tanzanian nigerian ghanaian senegalese congolese
  angolan zimbabwean african european asian australian canadian mexican cuban jamaican haitian
  dominican colombian venezuelan peruvian chilean argentine argentinian brazilian bolivian
  uruguayan paraguayan ecuadorian guatemalan jewish muslim christian catholic protestant islamic
  hindu buddhist sikh orthodox anglican lutheran methodist baptist mormon arab arabic hebrew
  latin roman celtic slavic germanic soviet nazi viking byzantine ottoman victorian americans
  britons germans italians russians japan-based democrats republicans democrat republican
  communist christians muslims jews catholics protestants europeans africans asians canadians
  australians indians romans greeks turks poles swedes danes norwegians finns mexicans
  afro-american african-american anglo-saxon taiwanese singaporean burmese cambodian sicilian
  bavarian prussian californian texan
`);
