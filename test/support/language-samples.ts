/** Short texts in several languages, with queries in other forms of their words. */
export interface LanguageSample {
  readonly language: string;
  readonly name: string;
  readonly texts: readonly string[];
  /** Query n looks for text n. */
  readonly queries: readonly string[];
}

export const languageSamples: readonly LanguageSample[] = [
  {
    language: 'en',
    name: 'English',
    texts: [
      'Customers may return their purchases within thirty days and receive the money back.',
      'The libraries of the city are closed on public holidays and open again the next morning.',
      'Before the winter all heating systems in the building are checked by a technician.',
    ],
    queries: ['returning a purchase', 'library holiday', 'check the heaters of buildings'],
  },
  {
    language: 'de',
    name: 'German',
    texts: [
      'Die Rückerstattung wird innerhalb von dreißig Tagen auf das Konto des Kunden überwiesen.',
      'Alle Häuser in dieser Straße wurden nach dem Krieg von einer Genossenschaft gebaut.',
      'Die Mitarbeiter müssen ihre Reisekosten bis zum Ende des Monats abrechnen.',
    ],
    queries: ['Rückerstattungen', 'gebautes Haus', 'Mitarbeiterin Reisekosten abgerechnet'],
  },
  {
    language: 'fr',
    name: 'French',
    texts: [
      'Le remboursement des frais est versé sur le compte du client dans un délai de trente jours.',
      'Les chevaux de la ferme sont nourris tous les matins avant le lever du soleil.',
      'Les employés doivent remettre leurs clés à la réception avant de quitter le bâtiment.',
    ],
    queries: ['remboursements', 'cheval nourri', 'une cle remise par employe'],
  },
  {
    language: 'es',
    name: 'Spanish',
    texts: [
      'Las devoluciones se aceptan durante los treinta días que siguen a la compra del producto.',
      'El médico recomienda caminar media hora cada mañana para fortalecer el corazón.',
      'Los autobuses de la ciudad no circulan los domingos porque los conductores descansan.',
    ],
    queries: ['devolucion del producto', 'médicos que recomiendan', 'autobús domingo'],
  },
  {
    language: 'it',
    name: 'Italian',
    texts: [
      'I rimborsi vengono pagati entro trenta giorni dalla richiesta scritta del cliente.',
      'Le finestre della casa sono state riparate dopo la tempesta della settimana scorsa.',
      'Gli studenti possono prendere in prestito cinque libri alla volta dalla biblioteca.',
    ],
    queries: ['rimborso', 'riparare la finestra', 'libro prestiti studente'],
  },
  {
    language: 'pt',
    name: 'Portuguese',
    texts: [
      'As devoluções são aceitas até trinta dias depois da compra, com a nota fiscal.',
      'Os pescadores da vila saem para o mar antes do amanhecer quando o tempo está bom.',
      'A reunião dos moradores foi adiada porque o elevador do prédio está quebrado.',
    ],
    queries: ['devolucao', 'pescador vilas', 'reuniões de morador'],
  },
  {
    language: 'nl',
    name: 'Dutch',
    texts: [
      'De terugbetaling wordt binnen dertig dagen op de rekening van de klant gestort.',
      'De fietsen van het station worden elke week door een monteur nagekeken.',
      'Bewoners kunnen hun oude meubels op de eerste maandag van de maand laten ophalen.',
    ],
    queries: ['terugbetalingen', 'fiets monteurs', 'bewoner meubel'],
  },
  {
    language: 'sv',
    name: 'Swedish',
    texts: [
      'Återbetalningen görs inom trettio dagar efter att varan har kommit tillbaka till lagret.',
      'Barnen i skolan får lära sig att plantera träd och sköta en egen trädgård.',
      'Bussarna till flygplatsen går var tionde minut från stationen i centrum.',
    ],
    queries: ['återbetalning', 'skolor och trädgårdar', 'bussar flygplatser'],
  },
  {
    language: 'ru',
    name: 'Russian',
    texts: [
      'Возврат денег производится в течение тридцати дней после получения товара на складе.',
      'Городские библиотеки закрыты в праздничные дни и открываются на следующее утро.',
      'Сотрудники должны сдать отчёты о командировках до конца месяца.',
    ],
    queries: ['возврату денег', 'библиотека праздник', 'отчет сотрудника'],
  },
  {
    language: 'tr',
    name: 'Turkish',
    texts: [
      'Para iadesi, ürünün depoya ulaşmasından sonra otuz gün içinde yapılır.',
      'Şehirdeki kütüphaneler resmi tatillerde kapalıdır ve ertesi sabah tekrar açılır.',
      'Çalışanlar seyahat raporlarını ay sonuna kadar teslim etmek zorundadır.',
    ],
    queries: ['ürünün iadesi', 'kütüphane tatil', 'seyahat raporu'],
  },
  {
    language: 'ar',
    name: 'Arabic',
    texts: [
      'يتم رد المبلغ إلى حساب العميل خلال ثلاثين يوما من استلام المنتج في المخزن.',
      'المكتبة العامة مغلقة في أيام العطلات الرسمية وتفتح أبوابها في صباح اليوم التالي.',
      'يجب على الموظفين تقديم تقارير السفر قبل نهاية الشهر إلى قسم المحاسبة.',
    ],
    queries: ['المبلغ للعميل', 'مكتبة العطلة', 'تقارير الموظف'],
  },
  {
    language: 'zh',
    name: 'Chinese',
    texts: [
      '客户可以在购买后三十天内申请退款，款项将退回到原来的银行账户。',
      '市立图书馆在法定节假日闭馆，第二天早上重新开放。',
      '员工必须在月底之前提交出差报告，并附上所有的发票。',
    ],
    queries: ['退款', '图书馆节假日', '出差发票'],
  },
  {
    language: 'ja',
    name: 'Japanese',
    texts: [
      '返金は商品が倉庫に届いてから三十日以内にお客様の口座へ行われます。',
      '市立図書館は祝日に閉館し、翌朝から再び開館します。',
      '社員は月末までに出張の報告書と領収書を提出しなければなりません。',
    ],
    queries: ['返金', '図書館の祝日', '出張報告書'],
  },
  {
    language: 'ko',
    name: 'Korean',
    texts: [
      '환불은 상품이 창고에 도착한 후 삼십 일 이내에 고객의 계좌로 이루어집니다.',
      '시립 도서관은 공휴일에 문을 닫고 다음 날 아침에 다시 엽니다.',
      '직원은 월말까지 출장 보고서와 영수증을 제출해야 합니다.',
    ],
    queries: ['환불', '도서관 공휴일', '출장 영수증'],
  },
  {
    language: 'th',
    name: 'Thai',
    texts: [
      'ลูกค้าสามารถขอคืนเงินได้ภายในสามสิบวันหลังจากซื้อสินค้า',
      'ห้องสมุดของเมืองปิดในวันหยุดราชการและเปิดอีกครั้งในเช้าวันรุ่งขึ้น',
      'พนักงานต้องส่งรายงานการเดินทางและใบเสร็จก่อนสิ้นเดือน',
    ],
    queries: ['คืนเงิน', 'ห้องสมุดวันหยุด', 'รายงานการเดินทาง'],
  },
];
