/**
 * The most frequent words of each language. They are not searched for in texts of that language,
 * and they tell languages of one script apart.
 */
const lists: Readonly<Record<string, string>> = {
  en: `
    a about above after again against all also am an and any are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn
    doing don down during each few for from further had hadn has hasn have haven having he
    her here hers herself him himself his how i if in into is isn it its itself just let ll
    me more most mustn my myself no nor not now of off on once only or other ought our ours
    ourselves out over own re s same shan she should shouldn so some such t than that the
    their theirs them themselves then there these they this those through to too under until
    up upon us ve very was wasn we were weren what when where which while who whom why will
    with won would wouldn you your yours yourself yourselves
  `,
  de: `
    aber alle allem allen aller alles als also am an andere auch auf aus bei beim bis bin
    bist da damit dann das dass dein dem den denn der des dessen deren die dies diese diesem
    diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es euer für
    gegen gewesen hat habe haben hatte hatten hier hinter ich ihm ihn ihnen ihr ihre ihrem
    ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jedoch kann kein keine
    keinem keinen keiner können könnte man mein meine mich mir mit muss müssen nach nicht
    noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so solche
    soll sollen sondern sonst über um und uns unser unter vom von vor wann war waren warum
    was weil welche welcher wenn wer werden wie wieder will wir wird wo wurde wurden während
    würde zu zum zur zwischen
  `,
  fr: `
    ai alors as au aucun aussi autre aux avait avec avoir ce cela ces cet cette ceux chaque
    ci comme comment dans de des du dont donc elle elles en encore entre est et étaient
    était être eu fait font il ils je la le les leur leurs lors lui ma mais me même mes moi
    mon ne ni nos notre nous on ont ou où par parce pas peu peut pendant plus pour pourquoi
    qu quand que quel quelle quelles quels qui sa sans se sera ses si son sont sous sur ta
    te tes toi ton tous tout toute toutes très tu un une vos votre vous y été
  `,
  es: `
    al algo algunos ante antes así aun aunque bien cada como con contra cual cuando de del
    desde donde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso
    esos esta está estaba están estas este esto estos fue fueron ha había han hasta hay la
    las le les lo los más me mi mientras mis mucho muy nada ni no nos nosotros o os otra
    otros para pero por porque pues puede pueden que qué quien se sea según ser si sí sin
    sobre son su sus también tan tanto tiene tienen toda todas todo todos tu tus un una unas
    uno unos y ya yo
  `,
  it: `
    a abbiamo agli ai al alla alle allo anche ancora avere aveva c che chi ci cioè come con
    contro cosa così cui da dagli dai dal dalla dalle dallo degli dei del della delle dello
    dentro di dopo dove e è ed era erano essere fa fino fra gli ha hanno ho i il in io la le
    lei li lo loro lui ma me mentre mi mia mio molto ne negli nei nel nella nelle nello noi
    non nostro o ogni oppure per perché però più poi può quale quali quando quanto quella
    quelle quelli quello questa queste questi questo qui se sei senza si sia sono sopra
    sotto stato su sua sue sugli sui sul sulla sulle suo suoi tra tu tutti tutto un una uno
    vi voi
  `,
  pt: `
    a ainda algum ao aos aquela aquele aquilo as até cada com como contra da das de dela
    dele deles depois desde dessa desse desta deste do dos e é ela elas ele eles em entre
    era eram essa essas esse esses esta está estão estas este estes eu foi foram há isso
    isto já lhe mais mas me mesmo meu minha muito na nas não nem nenhum no nos nós nossa
    nosso num numa o onde os ou para pela pelas pelo pelos pode podem por porque quais qual
    quando que quem são se sem ser seu seus sob sobre somente sua suas também te tem têm ter
    teu toda todas todo todos tu um uma umas uns você vocês à às
  `,
  nl: `
    aan al alle als altijd andere ben bij dan dat de der deze die dit doch doen door dus een
    eens en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand
    iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets
    nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw van veel
    voor want waren was wat we wel werd wezen wie wij wil worden wordt zal ze zelf zich zij
    zijn zo zonder zou
  `,
  sv: `
    alla allt att av blev bli blir då de dem den denna deras dess dessa det detta dig din
    dit du där efter ej eller en er era ett från för ha hade han hans har hennes hon honom
    hur här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mitt mot
    mycket ni nu när någon något några och om oss på samma sedan sig sin sina skulle som så
    till under upp ut utan vad var vara varför varit vem vi vid vilken åt än är över
  `,
  da: `
    af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din
    disse dog du efter eller en end er et for fra ham han hans har havde have hende hendes
    her hos hun hvad hvis hvor hvordan i ikke ind jeg jer jo kan kunne man mange med meget
    men mig min mit mod ned noget nogle nu når og også om op os over på selv sig sin sine
    sit skal skulle som sådan thi til ud under var vi vil ville vor være været
  `,
  no: `
    alle at av bare ble bli blir da de deg dem den denne der dere deres det dette din disse
    du eller en enn er et etter for fordi fra før ha hadde han hans har hennes her hun hva
    hvem hvis hvor hvordan i ikke inn ingen jeg kan kom kun kunne man mange med meg meget
    mellom men min mot må ned noe noen nå når og også om opp oss over på seg selv sin sine
    sitt skal skulle slik som så til ut uten var vi vil ville vår være vært
  `,
  fi: `
    ei eivät emme en ennen ette että he hän hänen ja jo joka jos jossa jota jotka kaikki
    kanssa kuin kuka kun kuten me mikä mitä missä mukaan mutta myös ne niin niitä nyt ole
    olen olet oli olivat olla olleet ollut on onko ovat se sekä sen siellä siihen siinä sitä
    sitten tai te tämä tämän tässä tätä tuo vaan vai vain vielä voi voidaan voivat
  `,
  hu: `
    a az abban ahhoz ahogy aki akik amely amelyek ami amikor annak arra azok azt az azután
    be belül csak de e ebben egy egyes egyik el előtt és ez ezek ezen ezért ezt fel ha hanem
    hogy hogyan igen ilyen is itt kell ki le legyen lehet lesz lett ma már még meg mely
    melyek mert mi mind minden mint míg most nagyon ne nem nincs olyan ott össze ő ők pedig
    s sem szerint talán után úgy vagy van vannak volt voltak
  `,
  ro: `
    a abia acea aceasta această acel acest aceste acestea acești al ale alt alte am ar are
    as asupra au avea care ce cel cele cei cu cum când că da dacă dar de deci decât despre
    din dintre după e ea ei el ele era este eu face fi fie fost în încă între îi își la le
    lor lui mai mea mult ne nici nu o or pe pentru până poate prin sau se sunt și să spre
    sub te toate tot toți un una unde unei unor unui va vor
  `,
  tr: `
    acaba ama ancak bana bazı belki ben beni benim bir biri birkaç biz bize bu buna bunda
    bundan bunu bunun çok çünkü da daha de değil diye dolayı en fakat gibi göre hangi hem
    hep hepsi her hiç için ile ise kadar kendi ki kim mi mu mı mü nasıl ne neden nerede niye
    o olan olarak oldu olduğu olması olup onlar onu onun sen siz sonra şey şu tarafından tüm
    ve veya ya yani
  `,
  id: `
    ada adalah agar akan antara apa atau bagi bahwa bisa dalam dan dapat dari dengan di dia
    harus ini itu jika juga kami karena kata ke kepada kita lain lebih maka mereka oleh pada
    para pun saat saja sangat saya seperti serta setelah siapa sudah suatu tanpa telah
    tentang tersebut tetapi tidak untuk yaitu yang
  `,
  pl: `
    a aby ale bardzo bez bo był była było były być ci co czy dla do gdy gdzie go i ich ile
    im inne iż ja jak jako je jego jej jest jeszcze jeśli już każdy kiedy kto które który
    których którzy ma może można my na nad nam nas nie nim o od on ona one oni oraz po pod
    przez przed przy są się sobie ta tak także tam te tego tej ten to tu tych tylko tym w we
    wszystkie z za ze że żeby
  `,
  cs: `
    a aby ale ani asi až bez bude budou by byl byla bylo byly být co což do ho i jak jako je
    jeho jej její jen jenž ještě ji jiné již jsem jsme jsou k kde kdo když která které který
    kteří ma mezi mi může na nad nebo než není o od po pod podle pokud pro proto protože
    před při s se si své ta tak také tato te tedy ten tento tím to tohoto tom toto u už v ve
    však z za ze že
  `,
  vi: `
    bị bởi các cái cho chúng có cũng của đã đang đây để đến do đó được khi không là lại lên
    mà mỗi một này nên nếu người như nhưng những nhiều ra rằng rất sẽ sau tại theo thì trên
    trong từ và vào về vì với vẫn
  `,
  ru: `
    а без более бы был была были было быть в вам вас весь во вот все всех вы где да для до
    его ее если есть еще же за и из или им их к как какой ко когда которая которые который
    которых кто ли либо мне может можно мы на над надо не него нее нет ни них но ну о об
    однако он она они оно от по под при с свой себя со так также такой там те тем то того
    тоже той только том ты у уже хотя чего чем что чтобы эта эти это этого этой этом этот я
  `,
  uk: `
    а або але без би бути був була були було в вас весь ви від він вона вони воно всі да де
    для до його її ж за з зі і із інший їх й к коли котрий ми мене може можна на над не неї
    немає ні ну о об отже по під при про та так такий також там те тим ти тих то того той
    тому у уже хто це цей ці цього цьому ця чи чого чому що щоб як яка який які якого якщо я
    є
  `,
  bg: `
    а аз ако ала бе без беше би бил била били било бъде в вас ваш ви все всеки всички всичко
    във вие го да дали до докато ѝ за защо и из или им има имат й как как като каква каквото
    когато което които кой която къде ли между ме ми много може на над не него нещо ни ние
    никой но някои няма обаче от още по под при с са само се си след сме се със съм също
    така такъв там тази те тези ти то това този той тук тя у че ще я
  `,
  el: `
    αλλά αν από απ αυτά αυτές αυτή αυτό αυτοί αυτός για γιατί δε δεν δηλαδή εάν είναι ένα
    ένας έναν έχει έχουν ή η ήταν θα και κάθε κατά με μετά μέσα μη μια μία μας μου να ο οι
    όπου όπως όταν ότι όχι πιο πολύ πού που πρέπει προς πως σαν σας σε στα στη στην στις στο
    στον στους στων τα τη την της τι τις το τον του τους των ως
  `,
  ar: `
    إذا إلى أن أنا أنت أو أي الا التي الذي الذين الى اليوم ان او بعد بين تكون تلك تم ثم حتى
    حيث خلال ذلك عدد على عن عند عندما غير فإن فقد في فيه فيها قبل قد كان كانت كل كما كيف لا
    لكن لم لن له لها ليس ما مثل مع من منذ منها هذا هذه هل هم هنا هناك هو هي و وقد وكان ولا
    وهو وهي يكون يمكن
  `,
  hi: `
    अपना अपने अभी आदि आप इन इस इसका इसके इसे उन उनका उनके उस उसके एक एवं और कई कर करता करते
    करना करने कहा का किया किसी की कुछ के को कोई गया गई जब जहाँ जा जाता जाती जाते जैसे जो तक
    तथा तब तो था थी थे द्वारा न नहीं ने पर फिर बहुत भी मैं मे में यदि यह यहाँ ये रहा रहे रही
    लिए व वह वे सभी साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते होना होने
  `,
};

/** One lookup of a word tells all languages that have it. */
const languagesByWord = new Map<string, string[]>();
for (const [language, list] of Object.entries(lists)) {
  for (const word of new Set(list.trim().split(/\s+/))) {
    const languages = languagesByWord.get(word);
    if (languages) languages.push(language);
    else languagesByWord.set(word, [language]);
  }
}

export function isStopWordOf(language: string, word: string): boolean {
  return languagesByWord.get(word)?.includes(language) ?? false;
}

/** How many of the words are stop words, per language. */
export function countStopWords(
  words: readonly string[],
  languages: readonly string[],
): Map<string, number> {
  const known = languages.filter((language) => Object.hasOwn(lists, language));
  const counts = new Map(known.map((language) => [language, 0]));
  for (const word of words) {
    for (const language of languagesByWord.get(word) ?? []) {
      const count = counts.get(language);
      if (count !== undefined) counts.set(language, count + 1);
    }
  }
  return counts;
}
